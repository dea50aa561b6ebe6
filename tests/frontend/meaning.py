"""What a function means by way of the core, to be compared with plain Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from chadllvm.frontend import specialise
from chadllvm.ir.check import check
from chadllvm.ir.interp import Interpreter
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
