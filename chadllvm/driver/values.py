"""Types of arguments: what a function is specialised to by its first call."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Any, assert_never

import numpy as np

from chadllvm.backend.convert import DTYPES, Converter
from chadllvm.backend.convert import found as shown
from chadllvm.backend.foreign import as_numpy
from chadllvm.backend.results import Arrays, Choice, Group, Many, Result, leaf_types
from chadllvm.frontend.annotations import (
    CLOSED,
    Annotation,
    NumberList,
    OpenArray,
    OpenProduct,
    check_contents,
    record_annotation,
    target_type,
)
from chadllvm.frontend.records import BadRecord, RecordClass, record_class, row_type
from chadllvm.ir.dtypes import scalar_of
from chadllvm.ir.record import (
    SET_NAMES,
    Kind,
    ListNames,
    ObjectNames,
    RecordNames,
    Snapshot,
    is_record_of,
)
from chadllvm.ir.types import (
    BOOL,
    F32,
    F64,
    I64,
    NONE,
    SET,
    Acc,
    Array,
    Box,
    Fun,
    Product,
    Scalar,
    Sum,
    Type,
    has_float,
    holds,
    is_float,
    list_elem,
    list_names,
    list_type,
)
from chadllvm.ir.union import can_vary, varied
from chadllvm.ir.wording import said
from chadllvm.support import call_rules

_PYTHON: dict[type, Scalar] = {
    float: F64,
    int: I64,
    bool: BOOL,
    np.float64: F64,
    np.float32: F32,
    np.int64: I64,
    np.bool_: BOOL,
}


def record_fingerprint(
    kind: type, value: Any, fingerprint: Callable[[Any], object]
) -> object:
    """The fingerprint of what is neither a number nor an array of numbers."""
    if kind is dict:
        parts = tuple(map(fingerprint, value.values()))
        return None if None in parts else (dict, tuple(value), parts)
    if kind is list:
        items = frozenset(map(type, value)) if value else frozenset({list})
        types = [_closed(item) for item in items]
        if None in types:
            return None
        return list, items, len(types) == 1 and _vary(types[0], value)
    if kind is np.void:
        return kind, value.dtype
    if kind is Snapshot:
        parts = tuple(map(fingerprint, value))
        return None if None in parts else (value.names, parts)
    if kind in (set, frozenset):
        return kind if SET_NAMES.matches(value) else None
    try:
        record = record_class(kind)
    except BadRecord:
        return None
    if record is None:
        return None
    if record.names.may_change and not is_record_of(value, record.names):
        return None  # It may be an object.
    if _closed(kind) is not None:
        return kind
    parts = tuple(map(fingerprint, record.names.parts(value)))
    return None if None in parts else (kind, parts)


@functools.lru_cache(maxsize=4096)
def _closed(kind: type) -> Product | None:
    """The type of a class of records, if its annotations say all of it."""
    try:
        record = record_class(kind)
        found = None if record is None else record_annotation(record)
        check_contents(found)
    except BadRecord:
        return None
    return found if isinstance(found, Product) else None


def type_of(value: Any, function: str, path: str) -> Type:
    """The type of an argument.

    Raises:
        TypeError: if no type of ours describes it; the message names the function and
            the path from the parameter to what is wrong.
    """
    scalar = _PYTHON.get(type(value))
    if scalar is not None:
        return scalar
    match value:
        case None:
            return NONE
        case np.ndarray():
            return _array_type(value, function, path)
        case bool() | np.bool_():
            return BOOL
        case int() | np.integer():
            return I64
        case float():
            return F64
        case list():
            return _list_type(value, function, path)
        case np.void() if value.dtype.names:
            return _row_type(value.dtype, function, path)
        case dict() if value and all(isinstance(key, str) for key in value):
            return _dict_type(value, function, path)
        case set() | frozenset() if SET_NAMES.matches(value):
            return SET
    return _other_type(value, function, path)


def promoted_type(annotation: Annotation, value: Any) -> Type | None:
    """The type of an array of floats of any rank, as an argument becomes one.

    Lists do, and arrays of integers. None if the argument itself says what it is.
    """
    if isinstance(annotation, NumberList):
        return Array(annotation.elem, 1) if isinstance(value, list) else None
    if not isinstance(annotation, OpenArray) or not isinstance(annotation.elem, Scalar):
        return None
    if isinstance(value, list):
        return Array(annotation.elem, _rank(value))
    is_whole = isinstance(value, np.ndarray) and value.dtype.kind in "iub"
    if is_whole and value.ndim and is_float(annotation.elem):
        return Array(annotation.elem, value.ndim)
    return None


def as_declared(annotation: Annotation, value: Any, function: str, path: str) -> Any:
    """An argument as its parameter takes it, where that is another class of it."""
    if isinstance(annotation, OpenArray | NumberList):
        annotation = promoted_type(annotation, value)
    match annotation, value:
        case Scalar(), int() if is_float(annotation) and not isinstance(value, bool):
            return float(value)
        case Array(Scalar()), list():
            return Converter(function, [path], [annotation]).as_array(0, value)
        case Array(Scalar() as elem), np.ndarray() if value.dtype.kind in "iub":
            return value.astype(DTYPES[elem]) if is_float(elem) else value
        case _:
            return value


def _rank(value: Any) -> int:
    """How many levels of lists, and dimensions of arrays in them, there are."""
    if isinstance(value, list):
        return 1 + (_rank(value[0]) if value else 0)
    return int(np.ndim(value))


def _other_type(value: Any, function: str, path: str) -> Type:
    """A record, a tuple, an object as it was read, or what can be made an array."""
    kind: type = type(value)
    if kind is Snapshot:
        parts = zip(value.names, value, strict=True)
        fields = [type_of(part, function, f"{path}.{name}") for name, part in parts]
        return Product(tuple(fields), value.names)
    try:
        record = record_class(kind)
    except BadRecord as bad:
        raise call_rules.no_type(f"{_where(function, path)}: {bad}") from None
    if record is not None:
        return _record_type(value, record, function, path)
    if isinstance(value, tuple):
        return Product(
            tuple(type_of(v, function, f"{path}[{k}]") for k, v in enumerate(value))
        )
    if hasattr(value, "__array_interface__") or hasattr(value, "__dlpack__"):
        array = as_numpy(value, _where(function, path))
        return _array_type(array, function, path)
    raise _no_type(value, function, path)


def of_one_width(
    types: Sequence[Type], values: Sequence[Any], are_open: Sequence[bool]
) -> tuple[Type, ...]:
    """The types of arguments, where Python's floats are as wide as those beside them.

    They become f32 if there is an f32, and no f64 but them; `are_open` are those that
    no annotation says to be f64.
    """
    if not any(holds(ty, F32) for ty in types):
        return tuple(types)
    narrowed = tuple(
        _narrowed(ty, value) if is_open else ty
        for ty, value, is_open in zip(types, values, are_open, strict=True)
    )
    return tuple(types) if any(holds(ty, F64) for ty in narrowed) else narrowed


def _narrowed(ty: Type, value: Any) -> Type:
    """The type with f32 for each of Python's floats, in tuples and dictionaries too."""
    if ty == F64 and type(value) is float:
        return F32
    if isinstance(ty, Product) and type(value) in (tuple, dict, Snapshot):
        parts = value.values() if isinstance(value, dict) else value
        pairs = zip(ty.fields, parts, strict=True)
        return Product(tuple(_narrowed(f, part) for f, part in pairs), ty.names)
    return ty


def _where(function: str, path: str) -> str:
    return f"{function}: parameter {path}"


# What to do about complex numbers.
_NOT_REAL = "compiled functions compute with real numbers: pass .real and .imag"


def _no_type(value: Any, function: str, path: str) -> TypeError:
    if isinstance(value, complex | np.complexfloating):
        return call_rules.no_type(
            f"{_where(function, path)} must be real, found {shown(value)}; {_NOT_REAL}"
        )
    if isinstance(value, type):
        return call_rules.no_type(
            f"{_where(function, path)} is a class, which is a static argument: name it "
            f"in `static_argnames`"
        )
    if callable(value):
        return call_rules.no_type(
            f"{_where(function, path)} is a function; annotate it with `Callable`"
        )
    return call_rules.no_type(
        f"{_where(function, path)} must be a number, a NumPy array, a tuple, a record, "
        "a set of integers or a dictionary of these by strings, or a list of records, "
        f"found {shown(value)}"
    )


def _dict_type(value: dict[str, Any], function: str, path: str) -> Product:
    names = RecordNames(value, Kind.DICT, dict)
    parts = (type_of(v, function, names.path(path, key)) for key, v in value.items())
    return Product(tuple(parts), names)


def _record_type(value: Any, record: RecordClass, function: str, path: str) -> Product:
    """The type of a record: a field is what its class declares."""
    try:
        declared = record_annotation(record)
        check_contents(declared)
    except BadRecord as bad:
        raise call_rules.no_type(f"{_where(function, path)}: {bad}") from None
    if isinstance(declared, Product):
        return declared
    assert isinstance(declared, OpenProduct)
    names = record.names
    parts = zip(declared.fields, names, names.parts(value), strict=True)
    fields = (
        # What a class says of a field holds of an empty list, too.
        annotation
        if isinstance(annotation, CLOSED)
        else type_of(part, function, names.path(path, name))
        for annotation, name, part in parts
    )
    found = Product(tuple(fields), names)
    wanted = target_type(declared, found, weak=True)
    if not isinstance(wanted, Product):
        raise call_rules.no_type(
            f"{_where(function, path)} is {found}, unlike its annotations"
        )
    return wanted


def _list_type(value: list[Any], function: str, path: str) -> Type:
    """A list of tuples or records, of arrays, or of lists of these."""
    if not value:
        raise call_rules.no_type(
            f"{_where(function, path)} is an empty list, which says nothing of its "
            "items; annotate the parameter, as in list[Point]"
        )
    numbers = _rows_of_numbers(value)
    if numbers is not None:
        return list_type(numbers, ListNames(1, 1, of_lists=True))
    # Of each class that says all of its type, one item is enough.
    kinds: dict[type, int] = {type(item): k for k, item in enumerate(value)}
    is_closed = all(_closed(kind) is not None for kind in kinds)
    elem = _common_type(value, kinds.values() if is_closed else None, function, path)
    if isinstance(elem, Product | Sum) and list_names(elem) is None:
        return with_sizes(Array(elem, 1), value)
    if isinstance(elem, Array) and isinstance(elem.elem, Product | Sum):
        return Array(elem.elem, elem.rank + 1)
    names = list_names(elem)
    if names is not None:
        return list_type(list_elem(elem), names.like(depth=names.depth + 1))
    if isinstance(elem, Array) and isinstance(elem.elem, Scalar):
        return list_type(elem.elem, ListNames(1, elem.rank))
    raise call_rules.no_type(
        f"{_where(function, path)} is a list of {said(elem)}; expected a list of "
        "records or tuples (make a list of numbers an array by np.asarray)"
    )


def with_sizes(ty: Type, value: Any) -> Type:
    """The type of a list of records, where their arrays may have sizes of their own."""
    if isinstance(ty, Array) and isinstance(value, list) and _vary(ty.elem, value):
        return Array(varied(ty.elem), ty.rank)
    return ty


def _vary(ty: Type | None, values: Sequence[Any]) -> bool:
    """Whether arrays in records, which are of this type, differ in size."""
    if ty is None or not can_vary(ty):
        return False
    return len({_shapes(ty, value) for value in values}) > 1


def _shapes(ty: Type, value: Any) -> object:
    """The shapes of the arrays in a record, or a tuple; None for what is none."""
    match ty:
        case Array(Scalar()):
            return getattr(value, "shape", None)
        case Product(fields, RecordNames() as names):
            found = names.parts(value) if names.matches(value) else ()
            return tuple(map(_shapes, fields, found))
        case Product(fields) if isinstance(value, tuple):
            return tuple(map(_shapes, fields, value))
        case _:
            return None


def _rows_of_numbers(value: list[Any]) -> Scalar | None:
    """The type of the numbers in lists of them; None if that is not what it holds."""
    if not all(isinstance(row, list) for row in value):
        return None
    kinds = {_PYTHON.get(type(number)) for row in value for number in row}
    joined: Type | None = BOOL if kinds else None
    for kind in kinds:
        if kind is None or joined is None:
            return None
        joined = (
            kind if joined == BOOL else joined if kind == BOOL else _join(joined, kind)
        )
    return joined if isinstance(joined, Scalar) else None


def _join(first: Type, second: Type) -> Type | None:
    """The type of what may be of either; most arguments need not ask."""
    from chadllvm.frontend.arithmetic import join

    return join(first, second)


def _common_type(
    value: list[Any], which: Iterable[int] | None, function: str, path: str
) -> Type:
    """What the items at these positions, or all, are."""
    first, *rest = range(len(value)) if which is None else sorted(which)
    elem = type_of(value[first], function, f"{path}[{first}]")
    for k in rest:
        found = type_of(value[k], function, f"{path}[{k}]")
        joined = _join(elem, found)
        if joined is None:
            raise call_rules.no_type(
                f"{_where(function, f'{path}[{k}]')} is {said(found)}, unlike "
                f"{path}[0], which is {said(elem)}"
            )
        elem = joined
    return elem


def _row_type(dtype: np.dtype[Any], function: str, path: str) -> Product:
    try:
        return row_type(dtype)
    except BadRecord as bad:
        raise call_rules.no_type(f"{_where(function, path)}: {bad}") from None


def _array_type(value: np.ndarray, function: str, path: str) -> Type:
    if value.dtype.names:
        row = _row_type(value.dtype, function, path)
        return Array(row, value.ndim) if value.ndim else row
    scalar = scalar_of(value.dtype)
    if scalar is None:
        help = _NOT_REAL if value.dtype.kind == "c" else "convert it by .astype"
        raise call_rules.no_type(
            f"{_where(function, path)} is an array of {value.dtype}; expected float64, "
            f"float32, integers or bool ({help})"
        )
    return Array(scalar, value.ndim) if value.ndim else scalar


def gradient_type(ty: Type) -> Result:
    """The type of the gradient by a parameter: None where there are no reals."""
    match ty:
        case Product(_, ObjectNames()):
            return None
        case Product(_, ListNames()):
            return Arrays(ty) if has_float(ty) else None
        case Product(fields, names):
            return Group(tuple(gradient_type(f) for f in fields), names)
        case Array(Product() | Sum() as elem, rank) if has_float(ty):
            each = gradient_type(elem)
            assert isinstance(each, Group | Choice)
            return Many(each, rank)
        case Sum():
            return Choice(tuple(map(gradient_type, ty.payloads)))
        case Scalar() | Array():
            return ty if has_float(ty) else None
        case Box() | Fun() | Acc():
            return None
        case _:
            assert_never(ty)


def tags_of_gradients(
    types: Sequence[Type], which: Sequence[int]
) -> tuple[int | None, ...]:
    """For each leaf of the gradients by these, the tag that it is, if it is one.

    A tag is a leaf of the parameters, given by its position: the gradient of a union is
    that of the member that its value is.
    """
    starts = [0, *accumulate(len(leaf_types(ty)) for ty in types)]
    found: list[int | None] = []
    for k in which:
        _find_tags(types[k], starts[k], found)
    return tuple(found)


def tags_of_tangent(result: Result) -> tuple[int | None, ...]:
    """The same for the leaves of a result's tangent, by positions in the result."""
    found: list[int | None] = []
    _find_tags(result, 0, found)
    return tuple(found)


def _find_tags(
    ty: Result,
    start: int,
    found: list[int | None],
    in_array: bool = False,
    in_sum: bool = False,
) -> int:
    """Enter the leaves of a gradient; `start` is the position of the first leaf.

    `in_array`: ty is what elements of an array are, `in_sum`: in one of their members.
    """
    match ty:
        case Product(_, ObjectNames()):
            return start + len(leaf_types(ty))
        case Product(_, ListNames()) | Arrays():
            leaves = leaf_types(ty)
            if any(map(has_float, leaves)):
                own = enumerate(leaves, start)
                found += [None if has_float(leaf) else k for k, leaf in own]
            return start + len(leaves)
        case Product(parts) | Group(parts):
            for part in parts:
                start = _find_tags(part, start, found, in_array, in_sum)
            return start
        case Sum(payloads=parts) | Choice(parts):
            found.append(start)
            start += 1
            for part in parts:
                start = _find_tags(part, start, found, in_array, in_array)
            return start
        case Many(elem):
            return _find_tags(elem, start, found, True)
        case Array(Product() | Sum() as elem) if has_float(ty):
            return _find_tags(elem, start, found, True)
        case Array(Scalar(), rank) if in_sum:
            if has_float(ty):
                found += [None, *range(start + 1, start + 2 + rank)]
            return start + 2 + rank
        case _:
            leaves = leaf_types(ty)
            found += [None for leaf in leaves if has_float(leaf)]
            return start + len(leaves)


def is_object(ty: Type) -> bool:
    """Whether values are what was read of objects, whose fields are held fixed."""
    return isinstance(ty, Product) and isinstance(ty.names, ObjectNames)


def leaf_positions(types: Sequence[Type], which: Sequence[int]) -> tuple[int, ...]:
    """The positions, among all leaves of all parameters, of the reals of these."""
    found = [leaf_types(ty) for ty in types]
    starts = [0, *accumulate(map(len, found))]
    return tuple(
        starts[k] + j
        for k in which
        for j, leaf in enumerate(found[k])
        if has_float(leaf) and not is_object(types[k])
    )
