"""An array that recursive calls hand back as they got it, and that some calls make.

The value, the gradient and tangents are linear in its size; of a gradient's gradient
`docs/cost.md` says that it is not.
"""

from __future__ import annotations

import chadllvm as cl
from tests.laws.cost_sweep import MOST, SIZES, measured, violations

LINEAR = ("value", *(what for what in MOST if what != "grad of grad"))


@cl.jit
def handed_back(x: cl.f64[:], y: cl.f64[:], i: int) -> tuple[cl.f64[:], float]:
    if i >= len(x):
        return x, 1.0
    if i % (len(x) // 3) == 1:
        made, s = handed_back(x * 0.9, y, i + 1)
        return made, s + x[i] * made[0]
    found, s = handed_back(y, x, i + 1)
    return found, s * 0.7 + x[i] * found[i]


def program(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    found, s = handed_back(a, b, 0)
    return s + found[0] * c[0]


def test_calls_hand_back_arrays_without_copies() -> None:
    found = [one for one in measured(program, orders=True) if one.what in LINEAR]
    assert [one.what for one in found] == [*LINEAR]
    assert [*violations(found, SIZES)] == []
