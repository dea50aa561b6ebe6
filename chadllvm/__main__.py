"""`python -m chadllvm`: see `cli/command_line.py`."""

import sys

from chadllvm.cli import main

sys.exit(main())
