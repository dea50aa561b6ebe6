"""Recursion as deep as a term.

A function of Python that calls one directly takes no space on the machine's stack, so
that a recursion of such calls may be as deep as the memory allows, but for a limit,
which is raised here. The limit is the interpreter's: it is put back afterwards.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

DEEPEST = 1_000_000


@contextmanager
def deep() -> Iterator[None]:
    """For the time of a `with`, recursion may be deep."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, DEEPEST))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
