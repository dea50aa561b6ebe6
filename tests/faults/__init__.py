"""Faults from outside: no memory, interrupts, forks and exits, at any moment; and
accesses that nobody checks, for memory ends in pages that nobody may touch.

    python -m tests.faults                        everything, in full
    python -m tests.faults allocations --programs 50
    python -m tests.faults guards
    python -m tests.faults interrupts --calls 10000
    python -m tests.faults processes --rounds 20

`tests/test_faults.py` runs a fixed part. A fault that is not survived is a `Fault`.
"""


class Fault(AssertionError):
    """What a fault from outside must not do has happened."""
