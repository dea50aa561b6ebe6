"""Types of arguments: what a function is specialised to by its first call."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, assert_never

import numpy as np

from chadllvm.backend.results import Group, Result, leaf_types
from chadllvm.ir.types import (
    BOOL,
    F64,
    I64,
    Acc,
    Array,
    Box,
    Fun,
    Product,
    Scalar,
    Sum,
    Type,
    has_float,
)
from chadllvm.ir.typing import SCALAR_OF_DTYPE

_PYTHON: dict[type, Scalar] = {
    float: F64,
    int: I64,
    bool: BOOL,
    np.float64: F64,
    np.int64: I64,
    np.bool_: BOOL,
}


def fingerprint(value: Any) -> object:
    """What decides the type of an argument: quick to make, and to look up.

    None if there is nothing so simple; `type_of` tells.
    """
    kind = type(value)
    if kind is np.ndarray:
        return value.dtype, value.ndim
    if kind is tuple:
        parts = tuple(map(fingerprint, value))
        return None if None in parts else parts
    return kind if kind in _PYTHON else None


def type_of(value: Any, where: str) -> Type:
    """The type of an argument.

    Raises:
        TypeError: if no type of ours describes it; `where` names function and
        parameter.
    """
    scalar = _PYTHON.get(type(value))
    if scalar is not None:
        return scalar
    match value:
        case np.ndarray():
            return _array_type(value, where)
        case tuple():
            return Product(tuple(type_of(v, where) for v in value))
        case bool() | np.bool_():
            return BOOL
        case int() | np.integer():
            return I64
        case float():
            return F64
        case _:
            if hasattr(value, "__array_interface__") or hasattr(value, "__dlpack__"):
                return _array_type(np.asarray(value), where)
            raise TypeError(
                f"{where} is a {type(value).__name__}; expected a number, a NumPy "
                "array or a tuple of these" + _hint(value)
            )


def _hint(value: Any) -> str:
    return " (make a list an array by np.asarray)" if isinstance(value, list) else ""


def _array_type(value: np.ndarray, where: str) -> Type:
    scalar = SCALAR_OF_DTYPE.get(value.dtype.newbyteorder("="))
    if scalar is None:
        raise TypeError(
            f"{where} is an array of {value.dtype}; expected float64, int64 or bool "
            "(convert it by .astype)"
        )
    return Array(scalar, value.ndim) if value.ndim else scalar


def gradient_type(ty: Type) -> Result:
    """The type of the gradient by a parameter: None where there are no reals."""
    match ty:
        case Product(fields):
            return Group(tuple(gradient_type(f) for f in fields))
        case Scalar() | Array():
            return ty if has_float(ty) else None
        case Sum() | Box() | Fun() | Acc():
            return None
        case _:
            assert_never(ty)


def leaf_positions(types: Sequence[Type], which: Sequence[int]) -> tuple[int, ...]:
    """The positions, among all leaves of all parameters, of the reals of these."""
    found = [leaf_types(ty) for ty in types]
    starts = [0, *accumulate(map(len, found))]
    return tuple(
        starts[k] + j
        for k in which
        for j, leaf in enumerate(found[k])
        if has_float(leaf)
    )
