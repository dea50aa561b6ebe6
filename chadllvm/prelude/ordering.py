# mypy: allow-untyped-defs, allow-untyped-calls
"""The stable order of integers: by insertion if they are few, else digit by digit.

A pass for each digit of eight bits, from the lowest on, puts elements behind those with
a smaller one; where all have the same digit there is nothing to do. So the work is
proportional to the number of elements.
"""

from __future__ import annotations

import numpy as np

from chadllvm.frontend import places
from chadllvm.support.overloads import overload

# Up to here insertion is faster.
_FEW = 64


@overload(places.order)
def order(keys):
    """The indices of the elements in ascending order."""
    return _by_insertion(keys) if len(keys) <= _FEW else _by_digits(keys)


def _by_insertion(keys):
    found, inserted = np.arange(len(keys)), keys.copy()
    for k in range(1, len(keys)):
        key, place = keys[k], k
        while place > 0 and inserted[place - 1] > key:
            found[place], inserted[place] = found[place - 1], inserted[place - 1]
            place -= 1
        found[place], inserted[place] = k, key
    return found


def _by_digits(keys):
    places = np.zeros(8 * 256, dtype=int)
    for key in keys:
        for k in range(8):
            places[_digit(key, k)] += 1
    found = np.arange(len(keys))
    for k in range(8):
        if places[_digit(keys[0], k)] < len(keys):
            total = 0
            for digit in range(256 * k, 256 * k + 256):
                total, places[digit] = total + places[digit], total
            order, moved = np.zeros_like(found), np.zeros_like(keys)
            for i in range(len(keys)):
                digit = _digit(keys[i], k)
                order[places[digit]], moved[places[digit]] = found[i], keys[i]
                places[digit] += 1
            found, keys = order, moved
    return found


def _digit(key, k):
    """The k-th digit, among those of all; the sign is part of the last one."""
    sign = 128 if k == 7 else 0
    return 256 * k + (key >> 8 * k & 255 ^ sign)
