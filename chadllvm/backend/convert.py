"""Arguments that are not already what native code takes: convert them or say why not.

The generated marshalling code handles the usual case itself (a float, an int, a
contiguous array of the right dtype) and comes here for everything else.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from chadllvm.ir.types import BOOL, F64, I64, Array, Product, Scalar, Type

DTYPES = {F64: np.dtype(np.float64), I64: np.dtype(np.int64), BOOL: np.dtype(np.bool_)}

_NAMES: dict[Scalar, str] = {F64: "a float", I64: "an int", BOOL: "a bool"}

# NumPy scalars, and Python's, that are real numbers.
_REAL = (int, float, np.floating, np.integer, np.bool_)

# The values of an i64.
INT64 = range(-(1 << 63), 1 << 63)


class Converter:
    """Converts the arguments of one function; `leaves` are parameters by position."""

    def __init__(
        self, function: str, leaves: Sequence[str], types: Sequence[Type]
    ) -> None:
        self._function = function
        self._leaves = leaves
        self._types = types

    def as_float(self, leaf: int, value: Any) -> float:
        """Python and NumPy real numbers, and arrays without dimensions."""
        value = _scalar_of(value)
        if not isinstance(value, _REAL):
            self._refuse(leaf, value)
        try:
            return float(value)
        except OverflowError:
            raise OverflowError(
                f"{self._name(leaf)}: {_short(value)} is too large for a float"
            ) from None

    def as_int(self, leaf: int, value: Any) -> int:
        """Python and NumPy integers; floats are never truncated."""
        value = _scalar_of(value)
        if isinstance(value, np.bool_):
            value = bool(value)
        try:
            number = operator.index(value)
        except TypeError:
            self._refuse(leaf, value)
        if number not in INT64:
            raise OverflowError(
                f"{self._name(leaf)}: {_short(number)} is too large for 64 bits"
            )
        return number

    def as_bool(self, leaf: int, value: Any) -> bool:
        """Python's and NumPy's bools, not numbers."""
        value = _scalar_of(value)
        if not isinstance(value, bool | np.bool_):
            self._refuse(leaf, value)
        return bool(value)

    def as_product(self, leaf: int, value: Any) -> tuple[Any, ...]:
        """A tuple of the right length."""
        ty = self._types[leaf]
        size = len(ty.fields) if isinstance(ty, Product) else 0
        if not isinstance(value, tuple):
            self._refuse(leaf, value)
        if len(value) != size:
            raise ValueError(
                f"{self._name(leaf)} must be a tuple of {size}, "
                f"found a tuple of {len(value)}"
            )
        return value

    def as_array(self, leaf: int, value: Any) -> np.ndarray:
        """A contiguous, aligned array of our own dtype; a copy only if needed."""
        ty = self._types[leaf]
        assert isinstance(ty, Array) and isinstance(ty.elem, Scalar)
        array, dtype = self._array(leaf, value), DTYPES[ty.elem]
        if array.dtype.newbyteorder("=") != dtype:
            self._refuse(leaf, value)
        if array.ndim != ty.rank:
            raise ValueError(
                f"{self._name(leaf)} must have {ty.rank} dimension(s), "
                f"found {array.ndim} (shape {array.shape})"
            )
        plain = np.require(array, dtype, ["C_CONTIGUOUS", "ALIGNED"])
        return plain.view(dtype, np.ndarray)

    def _array(self, leaf: int, value: Any) -> np.ndarray:
        """What NumPy takes as an array without guessing a dtype."""
        masked = sys.modules.get("numpy.ma")
        if isinstance(value, list | tuple | str | bytes | int | float | complex) or (
            masked and isinstance(value, masked.MaskedArray)
        ):
            self._refuse(leaf, value)
        if hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
            return np.from_dlpack(value)
        array = np.asarray(value)
        if array.dtype == object:
            self._refuse(leaf, value)
        return array

    def _refuse(self, leaf: int, value: Any) -> NoReturn:
        ty = self._types[leaf]
        message = f"{self._name(leaf)} must be {expected(ty)}, found {found(value)}"
        if isinstance(ty, Array) and isinstance(value, list | tuple):
            dtype = DTYPES.get(ty.elem) if isinstance(ty.elem, Scalar) else None
            message += f"; make it an array by numpy.array(…, dtype=numpy.{dtype})"
        raise TypeError(message)

    def _name(self, leaf: int) -> str:
        return f"{self._function}: parameter {self._leaves[leaf]}"


def expected(ty: Type) -> str:
    """A parameter's type as the user knows it."""
    match ty:
        case Scalar():
            return _NAMES[ty]
        case Array(elem, rank):
            dtype = DTYPES[elem] if isinstance(elem, Scalar) else elem
            return f"a NumPy array of {dtype} with {rank} dimension(s)"
        case Product(fields):
            return f"a tuple of {len(fields)}"
        case _:
            return str(ty)


def found(value: Any) -> str:
    """An argument as the user knows it."""
    if isinstance(value, np.ndarray):
        return f"{type(value).__name__} of {value.dtype} with shape {value.shape}"
    return f"{type(value).__name__} {_short(value)}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _scalar_of(value: Any) -> Any:
    """The scalar in an array without dimensions; anything else unchanged."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return value[()]
    return value
