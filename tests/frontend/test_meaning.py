"""The core that the frontend makes computes what Python computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from corpus import CASES, Case
from frontend.meaning import assert_same, interpret
from jitted import Jitted

from chadllvm.frontend import specialise
from chadllvm.ir.op import ProgramError
from chadllvm.ir.types import F64, I64


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_value_is_pythons(case: Case) -> None:
    assert_same(interpret(case.function, *case.args), case.function(*case.args))


def _index(x, i):
    return x[i]


def _divide(i, j):
    return i // j


def _smallest(x):
    return min(x)


def _power(i, j):
    return i**j


def _ragged(n):
    return np.array([[1.0 for _ in range(i)] for i in range(n)])


def _integer(x):
    return int(x)


def _unused_failure(x, i):
    for _ in range(3):
        y = x[i]
        y = y + 1.0
    return 0.0


@pytest.mark.parametrize(
    ("function", "args", "kind"),
    [
        (_index, (np.ones(3), 3), IndexError),
        (_index, (np.ones(3), -4), IndexError),
        (_divide, (1, 0), ZeroDivisionError),
        (_smallest, (np.ones(0),), ValueError),
        (_power, (2, -1), ValueError),
        (_ragged, (3,), ValueError),
        (_integer, (np.nan,), ValueError),
        (_unused_failure, (np.ones(3), 5), IndexError),
    ],
)
def test_failures_are_pythons(
    function: Callable[..., Any], args: tuple[Any, ...], kind: type[Exception]
) -> None:
    """A failing program raises Python's exception at the user's line."""
    with pytest.raises(ProgramError) as caught:
        interpret(function, *args)
    assert caught.value.kind is kind
    assert caught.value.span.function == function.__name__


def test_callee_is_specialised_once_for_each_type() -> None:
    @Jitted
    def half(x):
        return x / 2

    def use(x, n):
        return half(x) + half(n) + half(x + 1) + half(n + 1)

    program = specialise(use, [F64, I64])
    assert [f.name for f in program.functions] == ["half", "half_2", "use"]


def test_promotion_leaves_no_unused_callee() -> None:
    @Jitted
    def half(x):
        return x / 2

    def use(n):
        x = 1
        for _ in range(n):
            x = half(x)
        return x

    program = specialise(use, [I64])
    assert len(program.functions) == 2
    assert interpret(use, 3) == 0.125
