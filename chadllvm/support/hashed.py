# mypy: allow-untyped-defs, allow-untyped-calls
"""Hash tables of integers: functions of the compiled language, in the language itself.

A set has its elements in an array `items`, and a `table` whose size is a power of two:

    items   7  3 -1            table   0 2 0 1 0 0 3 0
                               what is at h(7), h(3), h(-1), or behind: a place, from 1

0 is a free slot, -1 one whose element was removed. A search goes from slot to slot
until a free one (linear probing); at least a third of the slots is free, so it takes a
few steps. `frontend/sets.py` emits what changes a set: only there are arrays updated
where they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Routine = Callable[..., Any]

SMALLEST = 8


def compiled(function: Routine) -> Routine:
    """Mark a function as one that compiled code may call."""
    vars(function)["py_func"] = function
    return function


@compiled
def slot(items, table, value):
    """Where the table has a value, or else the free slot that a search for it ends at.

    The upper half of the bits is folded into the lower one, which is multiplied and
    folded again: sequences, multiples and pairs written as one number are spread. No
    product or sum exceeds 63 bits, for debug mode refuses what does.
    """
    mask = len(table) - 1
    folded = ((value & 0xFFFFFFFF) + (value >> 32) * 0x45D9F3B) & 0xFFFFFFFF
    spread = folded * 0x61C88647
    at = (spread ^ (spread >> 17) ^ (spread >> 32)) & mask
    while table[at] != 0 and (table[at] < 0 or items[table[at] - 1] != value):
        at = (at + 1) & mask
    return at


@compiled
def rebuilt(items, extra):
    """A table of these items, of which at most a third is taken, with so many more."""
    size = SMALLEST
    while size < 3 * (len(items) + extra):
        size *= 2
    table = np.zeros(size, int)
    for k in range(len(items)):
        table[slot(items, table, items[k])] = k + 1
    return table


@compiled
def copied(items, table):
    """Arrays of their own."""
    return items.copy(), table.copy()
