"""The commands of `chadllvm`, one file each, and what they share.

A command's module has `EXAMPLES` for its help, `describe(parser)`, which says what it
takes, and `run(options)`, which gives an exit status (`status.py`). `cli.py` imports
the one that is asked for.
"""
