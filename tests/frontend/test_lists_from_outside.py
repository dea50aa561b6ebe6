"""Lists of a module, or of a function around, are constants that are only read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.support.diagnostic import CompileError

REALS = [0.5, -0.25, 0.125]
WHOLE = [1, 2, 3]
MIXED = [1, 2.5, True]
FLAGS = [True, False]
TABLE = [[1.0, 2.0], [3.0, 4.0]]
IRREGULAR = [[1.0], [2.0, 3.0]]
MATRICES = [np.eye(2), np.ones((3, 2))]
PAIRS = [(1.5, 2), (3.0, 4)]
ATOMS = [("C", 2), ("H", 6)]
MASSES = {"C": 12.0, "H": 1.0}
NOTHING: list[float] = []
X = np.array([0.75, -1.25])


def numbers(x: cl.f64[:]) -> float:
    total = sum(c * x[0] ** k for k, c in enumerate(REALS)) + REALS[-1] * x[1]
    for i in range(len(REALS)):
        total += REALS[i] * x[i % 2]
    return total + max(WHOLE) * x[0] + WHOLE.index(2) + (7 in WHOLE) + WHOLE[1] // 2


def joined(x: cl.f64[:]) -> float:
    longer = [c * x[0] for c in REALS] + REALS[1:]
    longer.append(x[1])
    copied = list(REALS)
    copied[0] = x[0]
    return sum(longer) * sum(copied) + len(REALS * 2)


def mixed(x: cl.f64[:]) -> float:
    return sum(MIXED) * x[0] + sum(NOTHING) + len(NOTHING) + (x[1] if FLAGS[0] else 0.0)


def nested(x: cl.f64[:]) -> float:
    total = TABLE[1][0] * x[0]
    for row in TABLE:
        for v in row:
            total += v * x[1]
    for part in IRREGULAR:
        total += sum(part) * x[0]
    return total + np.sum(np.array(TABLE)) * x[0] + np.dot(REALS, REALS) * x[1]


def others(x: cl.f64[:]) -> float:
    total = sum(a**k for a, k in PAIRS) * x[0]
    for name, count in ATOMS:
        total += MASSES[name] * count * x[1]
    return total + sum(float(np.sum((m @ x) ** 2)) for m in MATRICES)


@pytest.mark.parametrize("form", [numbers, joined, mixed, nested, others])
def test_they_are_read(form: Callable[..., Any]) -> None:
    compiled = cl.jit(form)
    assert np.isclose(compiled(X), form(X))
    assert cl.check_grads(compiled, (X,)) is None  # type: ignore[func-returns-value]


def test_a_list_around_the_function() -> None:
    scales = [2.0, 3.0]

    @cl.jit
    def scaled(x: float) -> float:
        return sum(s * x for s in scales)

    assert scaled(2.0) == 10.0
    scales.append(4.0)  # It is what it was at the first use.
    assert scaled(2.0) == 10.0


def test_floats_of_a_list_take_the_width_beside_them() -> None:
    @cl.jit
    def scaled(x: cl.f32) -> cl.f32:
        return sum(c * x for c in REALS) * REALS[0]

    assert scaled(np.float32(2.0)) == np.float32(0.375)


def element_assigned(x: cl.f64[:]) -> float:
    reals = REALS
    reals[0] = x[0]
    return sum(reals)


def appended(x: cl.f64[:]) -> float:
    reals = REALS
    reals.append(x[0])
    return sum(reals)


def itself_appended(x: cl.f64[:]) -> float:
    REALS.append(x[0])
    return sum(REALS)


@pytest.mark.parametrize(
    ("form", "code"),
    [(element_assigned, "CL0803"), (appended, "CL0803"), (itself_appended, "CL0311")],
)
def test_they_are_not_changed(form: Callable[..., Any], code: str) -> None:
    with pytest.raises(CompileError, match=code):
        cl.jit(form)(X)


HUGE = [2**70]


def test_integers_have_to_fit() -> None:
    with pytest.raises(CompileError, match="CL0306"):
        cl.jit(lambda x: x + HUGE[0])(1.0)
