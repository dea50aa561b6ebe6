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

from chadllvm.backend.foreign import as_numpy
from chadllvm.ir.record import Kind, ListNames, RecordNames, fit
from chadllvm.ir.types import (
    BOOL,
    F32,
    F64,
    I64,
    Array,
    Product,
    Scalar,
    Sum,
    Type,
    has_float,
    is_float,
)
from chadllvm.ir.union import is_none, member_of
from chadllvm.ir.wording import said
from chadllvm.support import call_rules

DTYPES: dict[Scalar, np.dtype[Any]] = {
    F64: np.dtype(np.float64),
    F32: np.dtype(np.float32),
    I64: np.dtype(np.int64),
    BOOL: np.dtype(np.bool_),
}

_NAMES: dict[Scalar, str] = {
    F64: "a float",
    F32: "a float32",
    I64: "an int",
    BOOL: "a bool",
}

# NumPy scalars, and Python's, that are real numbers.
_REAL = (int, float, np.floating, np.integer, np.bool_)

# The classes of numbers in lists that are made such elements without a loss of digits
# that the caller has not decided on; of others it is seen what array NumPy makes.
_PLAIN: dict[str, set[type]] = {
    "f": {float, int, bool, np.float32, np.float16, np.int64, np.int32, np.bool_},
    "i": {int, bool},
    "b": {bool},
}

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
            self.refuse(leaf, value)
        try:
            return float(value)
        except OverflowError:
            raise call_rules.too_large(
                f"{self._name(leaf)}: {_short(value)} is too large for a float"
            ) from None

    def as_single(self, leaf: int, value: Any) -> float:
        """What fits into an f32, and Python's floats, which have no width of their own.

        NumPy's wider floats have one: to lose digits is the caller's decision.
        """
        value = _scalar_of(value)
        is_wide = isinstance(value, np.floating) and value.dtype.itemsize > 4
        if is_wide or not isinstance(value, _REAL):
            self.refuse(leaf, value)
        return self.as_float(leaf, value)

    def as_int(self, leaf: int, value: Any) -> int:
        """Python and NumPy integers; floats are never truncated."""
        value = _scalar_of(value)
        if isinstance(value, np.bool_):
            value = bool(value)
        try:
            number = operator.index(value)
        except TypeError:
            self.refuse(leaf, value)
        if number not in INT64:
            raise call_rules.too_large(
                f"{self._name(leaf)}: {_short(number)} is too large for 64 bits"
            )
        return number

    def as_bool(self, leaf: int, value: Any) -> bool:
        """Python's and NumPy's bools, not numbers."""
        value = _scalar_of(value)
        if not isinstance(value, bool | np.bool_):
            self.refuse(leaf, value)
        return bool(value)

    def as_product(self, leaf: int, value: Any) -> tuple[Any, ...]:
        """A tuple of the right length."""
        ty = self._types[leaf]
        size = len(ty.fields) if isinstance(ty, Product) else 0
        if not isinstance(value, tuple):
            self.refuse(leaf, value)
        if len(value) != size:
            raise call_rules.wrong_shape(
                f"{self._name(leaf)} must be a tuple of {size}, "
                f"found a tuple of {len(value)}"
            )
        return value

    def as_record(self, leaf: int, value: Any) -> Any:
        """A container of the right class, or with the right keys."""
        names = self._names(leaf)
        if names.kind is Kind.SET and names.matches(value) and not fit(value):
            raise call_rules.too_large(
                f"{self._name(leaf)} holds integers that do not fit into 64 bits"
            )
        if names.matches(value):
            return value
        if names.kind is Kind.DICT and isinstance(value, dict):
            raise call_rules.wrong_type(f"{self._name(leaf)} {_keys(names, value)}")
        self.refuse(leaf, value)

    def as_member(self, leaf: int, value: Any) -> int:
        """Which member of a union a value is."""
        ty = self._types[leaf]
        assert isinstance(ty, Sum)
        found = member_of(ty, value)
        if found is None:
            self.refuse(leaf, value)
        return found

    def parts(self, leaf: int, value: Any) -> Sequence[Any]:
        """The components of a tuple or a record, in order."""
        ty = self._types[leaf]
        if isinstance(ty, Product) and isinstance(ty.names, RecordNames):
            return ty.names.parts(self.as_record(leaf, value))
        return self.as_product(leaf, value)

    def tangent_parts(self, leaf: int, value: Any) -> Sequence[Any]:
        """The same of a tangent: a row need not have what is no real number."""
        ty = self._types[leaf]
        if isinstance(ty, Product) and isinstance(value, np.void):
            pairs = zip(ty.names, ty.fields, strict=True)
            reals = tuple(name for name, field in pairs if has_float(field))
            if value.dtype.names == reals:
                return [value[n] if n in reals else None for n in ty.names]
        return self.parts(leaf, value)

    def _names(self, leaf: int) -> RecordNames:
        ty = self._types[leaf]
        assert isinstance(ty, Product) and isinstance(ty.names, RecordNames)
        return ty.names

    def as_array(self, leaf: int, value: Any) -> np.ndarray:
        """A contiguous, aligned array of our own dtype; a copy only if needed.

        What is said of numbers holds of those in arrays and lists: booleans and
        integers of any width become 64-bit integers or floats, and the floats in a list
        have the width that is asked for, if they are Python's.
        """
        ty = self._types[leaf]
        assert isinstance(ty, Array) and isinstance(ty.elem, Scalar)
        dtype = DTYPES[ty.elem]
        if isinstance(value, list):
            array = self._of_list(leaf, value, dtype, ty.rank)
        else:
            array = self._array(leaf, value)
        is_widened = ty.elem != BOOL and array.dtype.kind in "iub"
        if array.dtype.newbyteorder("=") != dtype and not is_widened:
            self.refuse(leaf, value)
        if array.ndim != ty.rank:
            raise call_rules.wrong_shape(
                f"{self._name(leaf)} must have {ty.rank} dimension(s), "
                f"found {array.ndim} (shape {array.shape})"
            )
        is_unsigned = ty.elem == I64 and array.dtype.kind == "u"
        if is_unsigned and array.size and int(array.max()) not in INT64:
            raise call_rules.too_large(
                f"{self._name(leaf)}: {array.max()} is too large for 64 bits"
            )
        plain = np.require(array, dtype, ["C_CONTIGUOUS", "ALIGNED"])
        return plain.view(dtype, np.ndarray)

    def _of_list(
        self, leaf: int, value: list[Any], dtype: np.dtype[Any], rank: int
    ) -> np.ndarray:
        """The array of a list of numbers, of rows, or of lists of these."""
        kinds = _classes_in(value)
        # Of arrays and of NumPy's numbers their own dtype counts.
        wanted = dtype if kinds <= _PLAIN[dtype.kind] else None
        try:
            array = np.array(value, wanted)
        except OverflowError:
            what = "a float" if dtype.kind == "f" else "64 bits"
            raise call_rules.too_large(
                f"{self._name(leaf)}: a number in it is too large for {what}"
            ) from None
        except (ValueError, TypeError):
            self.refuse(leaf, value)
        # A list of nothing has as many dimensions as are asked for.
        return array if kinds else np.zeros((*array.shape, *(0,) * rank)[:rank], dtype)

    def _array(self, leaf: int, value: Any) -> np.ndarray:
        """What NumPy takes as an array without guessing a dtype."""
        is_plain = isinstance(value, list | tuple | str | bytes | int | float | complex)
        if is_plain or _is_masked(value):
            self.refuse(leaf, value)
        array = as_numpy(value, self._name(leaf))
        if array.dtype == object:
            self.refuse(leaf, value)
        return array

    def refuse(self, leaf: int, value: Any) -> NoReturn:
        ty = self._types[leaf]
        message = f"{self._name(leaf)} must be {expected(ty)}, found {found(value)}"
        if isinstance(ty, Array) and isinstance(value, tuple):
            dtype = _dtype_name(ty)
            message += f"; make it an array by numpy.array(…, dtype=numpy.{dtype})"
        elif isinstance(ty, Array) and isinstance(value, list):
            message += "; a list becomes an array if all in it are such numbers"
            message += ", in rows of one length" if ty.rank > 1 else ""
        if _is_complex(value):
            message += "; compiled functions compute with real numbers"
        elif ty == F32 and isinstance(value, np.floating):
            message += "; convert it by numpy.float32(…)"
        elif _is_masked(value):
            message += "; fill in what is masked by .filled(…)"
        elif isinstance(ty, Array) and _is_other_number(ty, value):
            message += f"; convert it by .astype(numpy.{_dtype_name(ty)})"
        raise call_rules.wrong_type(message)

    def _name(self, leaf: int) -> str:
        return f"{self._function}: parameter {self._leaves[leaf]}"


def _classes_in(value: list[Any]) -> set[type]:
    """The classes of what is in a list, and in the lists in it."""
    kinds = set(map(type, value))
    if list in kinds:
        kinds.remove(list)
        kinds.update(*[_classes_in(v) for v in value if isinstance(v, list)])
    return kinds


def _is_complex(value: Any) -> bool:
    """Whether it is a complex number or an array of them, made no array to find out."""
    dtype = getattr(value, "dtype", None)
    in_list = isinstance(value, list) and not {complex}.isdisjoint(_classes_in(value))
    is_one = isinstance(value, complex) or in_list
    return is_one or getattr(dtype, "kind", None) == "c"


def expected(ty: Type) -> str:
    """A parameter's type as the user knows it."""
    match ty:
        case Sum():
            return " or ".join(map(expected, sorted(ty.payloads, key=is_none)))
        case Scalar():
            return _NAMES[ty]
        case Array(elem, rank):
            if isinstance(elem, Product | Sum):
                return _rows(elem, rank)
            dtype = DTYPES[elem] if isinstance(elem, Scalar) else elem
            return f"a NumPy array of {dtype} with {rank} dimension(s)"
        case Product(fields, names):
            if isinstance(names, ListNames):
                return f"a {said(ty)}"
            if isinstance(names, RecordNames):
                return _record(names)
            return f"a tuple of {len(fields)}"
        case _:
            return str(ty)


def _record(names: RecordNames) -> str:
    if names.is_class:
        return f"of class {names.title}"
    if names.kind is Kind.NONE:
        return "None"
    if names.kind is Kind.SET:
        return "a set of integers"
    fields = ", ".join(repr(name) for name in names)
    what = "a dictionary with the keys" if names.kind is Kind.DICT else "a row of"
    return f"{what} {fields}"


def _rows(elem: Product | Sum, rank: int) -> str:
    """An array of records as the user knows it."""
    names = elem.names if isinstance(elem, Product) else ()
    if isinstance(elem, Sum):
        what = said(elem)
    elif not isinstance(names, RecordNames):
        what = f"tuples of {len(elem.fields)}"
    elif names.kind is Kind.ROW:
        fields = ", ".join(repr(name) for name in names)
        return f"a structured array with the fields {fields}"
    else:
        what = names.title if names.is_class else "dictionaries"
    return "a list of " + "lists of " * (rank - 1) + what


def _keys(names: RecordNames, value: dict[Any, Any]) -> str:
    """What is wrong with the keys of a dictionary."""
    for name in names:
        if name not in value:
            return f"has no key {name!r}"
    (extra, *_) = [key for key in value if key not in names]
    return f"has the key {extra!r}, which is not expected"


def _dtype_name(ty: Array) -> str:
    return str(DTYPES[ty.elem] if isinstance(ty.elem, Scalar) else None)


def _is_other_number(ty: Array, value: Any) -> bool:
    """Whether this is an array of numbers for a parameter of other floats."""
    return (
        is_float(ty.elem) and isinstance(value, np.ndarray) and value.dtype.kind in "fi"
    )


def _is_masked(value: Any) -> bool:
    masked = sys.modules.get("numpy.ma")
    return masked is not None and isinstance(value, masked.MaskedArray)


def found(value: Any) -> str:
    """An argument as the user knows it."""
    dtype, shape = getattr(value, "dtype", None), getattr(value, "shape", None)
    if isinstance(shape, tuple) and shape and not isinstance(value, type):
        return f"{type(value).__name__} of {dtype} with shape {tuple(shape)}"
    return f"{type(value).__name__} {_short(value)}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _scalar_of(value: Any) -> Any:
    """The scalar in an array without dimensions; anything else unchanged."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return value[()]
    return value
