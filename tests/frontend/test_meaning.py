"""The core that the frontend makes computes what Python computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from corpus import CASES, Case
from jitted import Jitted

from chadllvm.frontend import specialise
from chadllvm.ir.check import check
from chadllvm.ir.interp import Interpreter
from chadllvm.ir.op import ProgramError
from chadllvm.ir.types import BOOL, F64, I64, Array, Product, Type
from chadllvm.ir.value import from_value, to_value

_SCALARS = {"f": F64, "i": I64, "b": BOOL}


def type_of(value: Any) -> Type:
    """The type that an argument has."""
    if isinstance(value, tuple):
        return Product(tuple(map(type_of, value)))
    array = np.asarray(value)
    elem = _SCALARS[array.dtype.kind]
    return Array(elem, array.ndim) if array.ndim else elem


def interpret(function: Callable[..., Any], *args: Any) -> Any:
    """The function's value, by way of the core."""
    program = specialise(function, [type_of(a) for a in args])
    check(program, after="frontend")
    types = [param.type for param in program.entry.params]
    values = [to_value(a, ty) for a, ty in zip(args, types, strict=True)]
    (result,) = Interpreter(program).run(*values)
    (ty,) = program.entry.body.types
    return from_value(result, ty)


def assert_same(found: Any, expected: Any) -> None:
    """Equal up to rounding; an array for a list, a float for an integer are equal."""
    if isinstance(expected, tuple):
        assert len(found) == len(expected)
        for f, x in zip(found, expected, strict=True):
            assert_same(f, x)
    else:
        expected = np.asarray(expected)
        assert np.shape(found) == expected.shape or expected.size == 0
        np.testing.assert_allclose(found, expected, rtol=1e-13)


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
    return [[1.0 for _ in range(i)] for i in range(n)]


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
