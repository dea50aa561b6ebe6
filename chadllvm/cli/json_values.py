"""JSON → arguments of the types that a function is annotated with.

    number, "nan", "inf"        a float, an int
    [[1, 2], [3, 4]]            an array, a tuple, a list
    {"x": 1, "y": 2}            a record or a dictionary, by the names of its fields
    {"type": "Circle", "r": 1}  a member of a union, by the name of its class

Without an annotation numbers are what they look like, regular lists of them are arrays.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from chadllvm.cli.status import BadInput
from chadllvm.frontend.annotations import (
    Annotation,
    NumberList,
    OpenArray,
    OpenDict,
    OpenFunction,
    OpenList,
    OpenProduct,
    OpenTuple,
    OpenUnion,
)
from chadllvm.frontend.records import NO_DEFAULT, record_class
from chadllvm.ir.record import Kind, ListNames, RecordNames, ReferenceNames
from chadllvm.ir.types import (
    BOOL,
    F32,
    F64,
    I64,
    Array,
    Product,
    Scalar,
    Sum,
    list_elem,
)
from chadllvm.ir.wording import said

# The key that names the class of a record.
CLASS = "type"

DTYPES = {F64: np.float64, F32: np.float32, I64: np.int64, BOOL: np.bool_}

WORDS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def argument_from_json(value: Any, annotation: Annotation, name: str) -> Any:
    """What a JSON value is as the argument for a parameter.

    Raises:
        BadInput: with the path from the parameter to what does not fit.
    """
    try:
        return from_json(value, annotation, name)
    except RecursionError as error:
        raise BadInput(f"{name} is nested too deeply to be given here") from error


def from_json(value: Any, annotation: Annotation, path: str) -> Any:
    """What a part of a JSON value is, at a path from the parameter."""
    match annotation:
        case Scalar():
            return _scalar(value, annotation, path)
        case Array(Scalar() as elem, rank):
            return array_of(value, elem, rank, path)
        case Array(elem, rank):
            return _list(value, elem, rank, path)
        case OpenList(elem, rank):
            return _list(value, elem, rank, path)
        case NumberList(elem):
            return array_of(value, elem, 1, path).tolist()
        case OpenArray(None):
            return array_of(value, None, None, path)
        case OpenArray(Scalar() as elem):
            return array_of(value, elem, None, path)
        case Product(_, ListNames() as names):
            return _ragged(value, list_elem(annotation), names, names.depth, path)
        case Product(_, ReferenceNames() as names):
            parts = names.content.fields
            return _record(value, names.record, parts, path)
        case Product(parts, RecordNames() as names):
            return _record(value, names, parts, path)
        case OpenProduct(parts, RecordNames() as names):
            return _record(value, names, parts, path)
        case Product(parts) | OpenProduct(parts):
            return _tuple(value, parts, path)
        case OpenTuple(part):
            count = len(value) if isinstance(value, list) else 0
            return _tuple(value, (part,) * count, path)
        case OpenDict(part):
            return _dict(value, part, path)
        case Sum():
            return _member(value, annotation.payloads, path)
        case OpenUnion(members):
            return _member(value, members, path)
        case None:
            return _any(value, path)
        case OpenFunction():
            raise BadInput(f"{path} is a function, which cannot be given here")
        case _:
            raise BadInput(f"{path} is {said(annotation)}, which cannot be given here")


def _wrong(value: Any, expected: str, path: str) -> BadInput:
    return BadInput(f"{path} is {_shown(value)}; expected {expected}")


def _shown(value: Any) -> str:
    kinds: dict[type, str] = {list: "a list", dict: "an object", str: "a string"}
    if type(value) in kinds and len(repr(value)) > 40:
        return kinds[type(value)]
    return "null" if value is None else repr(value)


def _scalar(value: Any, scalar: Scalar, path: str) -> Any:
    if isinstance(value, np.ndarray | np.generic) and np.ndim(value) == 0:
        value = value.item()
    if scalar == BOOL:
        if isinstance(value, bool):
            return value
        raise _wrong(value, "true or false", path)
    if scalar == I64:
        if isinstance(value, int) and not isinstance(value, bool):
            if -(2**63) <= value < 2**63:
                return value
            raise _wrong(value, "an integer of 64 bits", path)
        raise _wrong(value, "an integer", path)
    number = _float(value, path)
    return np.float32(number) if scalar == F32 else number


def _float(value: Any, path: str) -> float:
    if isinstance(value, str) and value.lower() in WORDS:
        return WORDS[value.lower()]
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise _wrong(value, "a number", path)
    try:
        return float(value)
    except OverflowError as error:
        raise BadInput(f"{path} is an integer too large for a float") from error


def array_of(value: Any, elem: Scalar | None, rank: int | None, path: str) -> Any:
    """The array that nested lists, or an array from a file, are."""
    dimensions = "an array" if rank is None else f"an array of rank {rank}"
    if isinstance(value, np.ndarray):
        found = value
    elif not isinstance(value, list):
        raise _wrong(value, dimensions, path)
    else:
        found = _regular(value, path)
    if rank is not None and found.ndim != rank:
        if found.size == 0 and found.ndim < rank:
            return np.empty((*found.shape, *[0] * (rank - found.ndim)), _dtype(elem))
        has = f"{found.ndim} dimension{'' if found.ndim == 1 else 's'}"
        raise BadInput(f"{path} has {has}; expected {dimensions}")
    return found if elem is None else _cast(found, elem, path)


def _dtype(elem: Scalar | None) -> Any:
    return np.float64 if elem is None else DTYPES[elem]


def _regular(value: list[Any], path: str) -> np.ndarray:
    """An array of nested lists; words for floats are such."""
    try:
        return np.asarray(_numbers(value, path))
    except ValueError as error:
        raise BadInput(f"{path} has rows of different lengths") from error
    except OverflowError as error:
        raise BadInput(f"{path} has integers of more than 64 bits") from error


def _numbers(value: Any, path: str) -> Any:
    if isinstance(value, list):
        return [_numbers(item, f"{path}[{k}]") for k, item in enumerate(value)]
    return value if isinstance(value, bool | int) else _float(value, path)


def _cast(found: np.ndarray, elem: Scalar, path: str) -> np.ndarray:
    """Numbers of a wider kind, or the same."""
    dtype = np.dtype(DTYPES[elem])
    kinds = {"f": "fiu", "i": "iu", "b": "b"}[dtype.kind]
    if found.dtype == np.object_ or (found.size and found.dtype.kind not in kinds):
        raise BadInput(f"{path} has elements of {found.dtype}; expected {elem}")
    with np.errstate(over="ignore"):
        return found.astype(dtype, copy=False)


def _items(value: Any, expected: str, path: str) -> list[tuple[str, Any]]:
    if not isinstance(value, list | np.ndarray):
        raise _wrong(value, expected, path)
    return [(f"{path}[{k}]", item) for k, item in enumerate(value)]


def _list(value: Any, elem: Any, rank: int, path: str) -> Any:
    """A list of records or tuples; rows of an array are those of a file."""
    if isinstance(value, np.ndarray) and value.dtype.names:
        return value
    items = _items(value, f"a list of {said(elem)}", path)
    if rank > 1:
        return [_list(item, elem, rank - 1, place) for place, item in items]
    return [from_json(item, elem, place) for place, item in items]


def _ragged(value: Any, elem: Scalar, names: ListNames, depth: int, path: str) -> Any:
    """A list of arrays; `depth` is how many levels of lists are left."""
    if depth:
        items = _items(value, "a list of arrays", path)
        return [_ragged(item, elem, names, depth - 1, place) for place, item in items]
    found = array_of(value, elem, names.rank, path)
    return found.tolist() if names.of_lists else found


def _tuple(value: Any, parts: Sequence[Any], path: str) -> Any:
    items = _items(value, f"a list of {len(parts)} values", path)
    if len(items) != len(parts):
        raise BadInput(f"{path} has {len(items)} values; expected {len(parts)}")
    return tuple(
        from_json(item, part, place)
        for (place, item), part in zip(items, parts, strict=True)
    )


def _dict(value: Any, part: Annotation, path: str) -> Any:
    if not isinstance(value, dict):
        raise _wrong(value, "an object", path)
    return {k: from_json(v, part, f'{path}["{k}"]') for k, v in value.items()}


def _record(value: Any, names: RecordNames, parts: Sequence[Any], path: str) -> Any:
    """A record of an object with its fields, or of a list of them in order."""
    if names.kind is Kind.NONE:
        if value is None:
            return None
        raise _wrong(value, "null", path)
    if names.kind is Kind.ROW:
        raise BadInput(f"{path} is a row of a structured array: give it as a .npy file")
    given = _fields(value, names, path)
    types = dict(zip(names, parts, strict=True))
    made = {n: from_json(v, types[n], names.path(path, n)) for n, v in given.items()}
    missing = [n for n in names if n not in made and not _has_default(names, n)]
    if missing:
        raise BadInput(
            f"{path} misses {', '.join(map(repr, missing))} of {_titled(names)}"
        )
    if names.kind is Kind.DICT:
        return made
    try:
        return names.python(**made)
    except Exception as error:
        raise BadInput(f"{path}: {names.title}: {error}") from error


def _titled(names: RecordNames) -> str:
    """What a record is called, with its fields."""
    title = "the dictionary" if names.kind is Kind.DICT else names.title
    return f"{title} ({', '.join(names)})"


def _fields(value: Any, names: RecordNames, path: str) -> dict[str, Any]:
    if isinstance(value, list) and names.kind is not Kind.DICT:
        if len(value) > len(names):
            raise BadInput(
                f"{path} has {len(value)} values; {_titled(names)} has fewer"
            )
        return dict(zip(names, value, strict=False))
    if not isinstance(value, dict):
        raise _wrong(value, f"an object with the fields of {_titled(names)}", path)
    given = dict(value)
    if CLASS not in names and CLASS in given and given.pop(CLASS) != names.title:
        raise BadInput(f"{path} is of type {value[CLASS]!r}; expected {names.title}")
    unknown = [key for key in given if key not in names]
    if unknown:
        raise BadInput(f"{path}: there is no {unknown[0]!r} in {_titled(names)}")
    return given


def _has_default(names: RecordNames, name: str) -> bool:
    record = record_class(names.python) if names.is_class else None
    if record is None:
        return False
    field = next(field for field in record.fields if field.name == name)
    return field.default is not NO_DEFAULT


def _member(value: Any, members: Sequence[Any], path: str) -> Any:
    """What a value is as the first member of a union that it fits."""
    tag = value.get(CLASS) if isinstance(value, dict) else None
    named = [m for m in members if tag is not None and said(m) == tag]
    found = []
    for member in named or members:
        try:
            found.append((member, from_json(value, member, path)))
        except BadInput as error:
            if named or len(members) == 1:
                raise
            last = error
    if not found:
        options = " | ".join(map(said, members))
        raise _wrong(value, options, path) from last
    if len(found) > 1 and isinstance(value, dict | list):
        options = " and ".join(said(member) for member, _ in found)
        raise BadInput(f'{path} may be {options}: say which, as in "{CLASS}": "…"')
    return found[0][1]


def _any(value: Any, path: str) -> Any:
    """A value without an annotation."""
    if isinstance(value, str) and value.lower() in WORDS:
        return WORDS[value.lower()]
    if isinstance(value, dict):
        return {k: _any(v, f'{path}["{k}"]') for k, v in value.items()}
    if isinstance(value, list):
        if value and any(isinstance(item, dict) for item in value):
            return [_any(v, f"{path}[{k}]") for k, v in enumerate(value)]
        return _regular(value, path)
    if isinstance(value, str):
        raise _wrong(value, "a number, a list or an object", path)
    return value
