"""`python -m chadllvm`: see `cli.py`."""

import sys

from chadllvm.cli import main

sys.exit(main())
