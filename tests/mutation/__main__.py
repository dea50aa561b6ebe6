"""`python -m tests.mutation`: see `cli.py`."""

import sys

from tests.mutation.cli import main

sys.exit(main(sys.argv[1:]))
