"""The statuses of a native function (`chad_status_t`)."""

from __future__ import annotations

OK = 0
INVALID = 1
PROGRAM = 2
MEMORY = 3
RECURSION = 4
INTERRUPT = 5
DEFECT = 6

# What the entry for Python returns of a call that is well, but has left blocks.
BLOCKS = -1
