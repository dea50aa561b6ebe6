"""Python's classes as records: what fields a class has, and of which types.

A `NamedTuple`, a dataclass and a `TypedDict` are read here; `annotations.py`
gives their fields' annotations a meaning. A row of a structured array is a record of
its dtype's fields.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import sys
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from chadllvm.ir.dtypes import scalar_of
from chadllvm.ir.record import (
    Kind,
    RecordNames,
    is_named_tuple,
)
from chadllvm.ir.types import Alternatives, Array, Product, Type
from chadllvm.support.overloads import Namespace
from chadllvm.support.twins import compiled_from

NO_DEFAULT: Any = inspect.Parameter.empty


class BadRecord(Exception):
    """A class that looks like a record and cannot be one; says why."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a record: `annotation` is a value still to be read."""

    name: str
    annotation: Any
    default: Any
    is_keyword_only: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class RecordClass:
    """A class of records. `is_plain`: its constructor does nothing but set fields.

    There is one for each class, so that what is known of it may be kept.
    `is_recursive`: a record may contain others of its class.
    """

    names: RecordNames
    fields: tuple[Field, ...]
    is_plain: bool
    is_recursive: bool = False


@functools.lru_cache(maxsize=4096)
def record_class(python: type) -> RecordClass | None:
    """The fields of a class, or None if it is no class of records.

    Raises:
        BadRecord: if an annotation of a field says nothing, or if it has no fields.
    """
    found: RecordClass | None = None
    if is_named_tuple(python):
        found = _named_tuple(python)
    elif typing.is_typeddict(python):
        found = _typed_dict(python)
    elif dataclasses.is_dataclass(python):
        found = _dataclass(python)
    if found is not None and not found.fields and found.names.kind is Kind.DICT:
        raise BadRecord(f"{python.__name__} has no fields")
    if found is not None and _refers_to(python, found):
        if found.names.kind is Kind.DICT:
            raise BadRecord(
                f"{python.__name__} has dictionaries of its own kind in it: only a "
                "`NamedTuple` or a dataclass may contain itself"
            )
        return dataclasses.replace(found, is_recursive=True)
    return found


def is_record(python: object) -> bool:
    """Whether an object is a class of records."""
    if not isinstance(python, type):
        return False
    try:
        return record_class(python) is not None
    except BadRecord:
        return False


def is_users_class(python: object) -> bool:
    """Whether an object is a class that a user has defined by a `class` statement."""
    if not isinstance(python, type) or not python.__flags__ & (1 << 9):
        return False
    if issubclass(python, Namespace):
        return False
    top = python.__module__.partition(".")[0]
    return not issubclass(python, Enum) and top not in ("numpy", "scipy", "chadllvm")


def _named_tuple(python: Any) -> RecordClass:
    annotations = _annotations(python)
    defaults = python._field_defaults
    fields = [
        Field(name, annotations.get(name, Any), defaults.get(name, NO_DEFAULT))
        for name in python._fields
    ]
    names = RecordNames(python._fields, Kind.NAMED_TUPLE, python)
    return RecordClass(names, tuple(fields), not _has_own_constructor(python))


def _has_own_constructor(python: type) -> bool:
    """Whether a subclass of a named tuple has a `__new__` or an `__init__`."""
    for base in python.__mro__:
        if "_fields" in vars(base):
            return False
        if "__new__" in vars(base) or "__init__" in vars(base):
            return True
    return False


def _dataclass(python: Any) -> RecordClass:
    annotations = _annotations(python)
    fields = [
        Field(
            f.name,
            annotations.get(f.name, Any),
            NO_DEFAULT if f.default is dataclasses.MISSING else f.default,
            f.kw_only is True,
        )
        for f in dataclasses.fields(python)
    ]
    names = RecordNames([f.name for f in fields], Kind.DATACLASS, python)
    return RecordClass(names, tuple(fields), _is_plain_dataclass(python, names))


def _is_plain_dataclass(python: Any, names: RecordNames) -> bool:
    if hasattr(python, "__post_init__") or not python.__dataclass_params__.init:
        return False
    return set(inspect.signature(python).parameters) == set(names)


def _typed_dict(python: Any) -> RecordClass:
    fields = [
        Field(name, _required(python, name, annotation), NO_DEFAULT, True)
        for name, annotation in _annotations(python).items()
    ]
    names = RecordNames([f.name for f in fields], Kind.DICT, dict)
    return RecordClass(names, tuple(fields), True)


def _required(python: Any, name: str, annotation: Any) -> Any:
    """The annotation of a key that must be there, as all must.

    Where annotations are strings the class itself does not know.
    """
    origin = typing.get_origin(annotation)
    is_required = origin is typing.Required or name not in python.__optional_keys__
    if origin is typing.NotRequired or not is_required:
        raise BadRecord(f"the key {name!r} of {python.__name__} may be missing")
    if origin is typing.Required:
        return typing.get_args(annotation)[0]
    return annotation


# ---- annotations of fields


def _annotations(python: type) -> dict[str, Any]:
    """The annotations of a class and its bases; strings are evaluated."""
    found: dict[str, Any] = {}
    for base in reversed(python.__mro__):
        if base is object or base is tuple:
            continue
        for name, value in inspect.get_annotations(base).items():
            found[name] = _evaluated(base, name, value)
    return found


def _evaluated(owner: type, name: str, value: Any) -> Any:
    """The value of an annotation, in the module of its class."""
    module = sys.modules.get(owner.__module__)
    names = {**vars(typing), owner.__name__: owner}
    known = {**names, **(vars(module) if module else _globals_of_methods(owner))}
    while isinstance(value, str | typing.ForwardRef):
        text = value if isinstance(value, str) else value.__forward_arg__
        try:
            value = eval(text, known, dict(vars(owner)))
        except Exception as failure:
            raise BadRecord(
                f"the annotation of {owner.__name__}.{name} cannot be evaluated: "
                f"{failure}"
            ) from failure
    return resolved(value, lambda inner: _evaluated(owner, name, inner))


def resolved(value: Any, evaluate: Callable[[Any], Any]) -> Any:
    """An annotation with what names stand for that are strings still, as in a union."""
    if isinstance(value, typing.ForwardRef):
        return evaluate(value.__forward_arg__)
    if isinstance(value, Alternatives):
        return Alternatives(tuple([resolved(o, evaluate) for o in value.options]))
    if not _has_names(value):
        return value
    found = typing.get_args(value)
    parts = [evaluate(a) if isinstance(a, str) else a for a in found]
    whole = tuple([resolved(part, evaluate) for part in parts])
    origin = typing.get_origin(value)
    generic = typing.Union if origin is types.UnionType else origin
    return generic[whole]


def _has_names(value: Any) -> bool:
    """Whether a name in a union, a list or a tuple is a string still."""
    if isinstance(value, str | typing.ForwardRef):
        return True
    if typing.get_origin(value) not in (typing.Union, types.UnionType, list, tuple):
        return False
    return any(map(_has_names, typing.get_args(value)))


def class_attribute(python: type, name: str) -> Any:
    """What a class has under a name, None if nothing; methods as they were written."""
    match inspect.getattr_static(python, name, None):
        case staticmethod(__func__=function):
            return staticmethod(_as_written(function))
        case classmethod(__func__=function):
            return classmethod(_as_written(function))
        case property(fget=function):
            return property(_as_written(function))
        case functools.cached_property(func=function):
            return property(_as_written(function))
        case found:
            return _as_written(found)


def _as_written(function: Any) -> Any:
    """A function below the decorator that compiles it."""
    if getattr(function, "static_argnames", ()):
        return function
    return compiled_from(function) or function


def _globals_of_methods(owner: type) -> dict[str, Any]:
    """The globals that a class without a module was defined in, if it has methods."""
    for value in vars(owner).values():
        if inspect.isfunction(value) and value.__module__ == owner.__module__:
            return value.__globals__
    return {}


def _refers_to(python: type, record: RecordClass) -> bool:
    """Whether a record of this class would hold another one of it."""
    seen: set[int] = set()
    stack: list[Any] = [field.annotation for field in record.fields]
    while stack:
        value = stack.pop()
        if value is python:
            return True
        if id(value) in seen:
            continue
        seen.add(id(value))
        stack += typing.get_args(value)
        if isinstance(value, Alternatives):
            stack += value.options
        if hasattr(value, "__value__"):  # A `type` statement's.
            stack.append(value.__value__)
        if isinstance(value, type) and _has_fields(value):
            stack += _annotations(value).values()
    return False


def _has_fields(python: type) -> bool:
    return (
        is_named_tuple(python)
        or dataclasses.is_dataclass(python)
        or typing.is_typeddict(python)
    )


# ---- structured arrays


def row_type(dtype: np.dtype[Any]) -> Product:
    """The type of a row of a structured array.

    Raises:
        BadRecord: if a field has a dtype that is none of ours.
    """
    names = RecordNames(dtype.names or (), Kind.ROW, np.void)
    assert dtype.fields is not None
    if not names:
        raise BadRecord("a structured array without fields")
    fields = tuple(_field_type(name, dtype.fields[name][0]) for name in names)
    return Product(fields, names)


def _field_type(name: str, dtype: np.dtype[Any]) -> Type:
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return Array(_field_type(name, base), len(shape))
    if dtype.names is not None:
        return row_type(dtype)
    scalar = scalar_of(dtype)
    if scalar is None:
        raise BadRecord(
            f"its field {name!r} has dtype {dtype}; expected float64, float32, "
            "integers or bool"
        )
    return scalar
