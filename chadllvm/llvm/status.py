"""The statuses of a native function (`chad_status_t`)."""

from __future__ import annotations

OK = 0
INVALID = 1
PROGRAM = 2
MEMORY = 3
RECURSION = 4
INTERRUPT = 5
