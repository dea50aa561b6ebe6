"""The command: see `cli.py`."""

import sys

from tests.campaign.cli import main

sys.exit(main(sys.argv[1:]))
