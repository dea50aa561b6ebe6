"""The commands of `chadllvm`, one file each, and what they share.

A command's module has `EXAMPLES` for its help, `describe(parser)`, which says what it
takes, and `run(options)`, which gives an exit status (`status.py`). `command_line.py`
imports the one that is asked for.
"""

from chadllvm.cli.command_line import main, parser

__all__ = ["main", "parser"]
