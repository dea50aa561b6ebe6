"""Tangents as arguments of functions of our own: zeros stand where None may.

    Spring(k=2.0, ends=3), Spring(k=1.0, ends=None)   →   Spring(k=1.0, ends=0)

A tangent has None in the place of an integer, but a parameter takes a tangent in the
class of its primal, whose fields have the types that the class declares.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from chadllvm.backend.convert import DTYPES
from chadllvm.frontend.annotations import Annotation, field_annotation
from chadllvm.frontend.records import is_record, record_class
from chadllvm.ir.record import structured
from chadllvm.ir.types import Array, Scalar
from chadllvm.support import call_rules


def filled(value: Any, tangent: Any) -> Any:
    """The tangent of a value, or a cotangent, with zeros for what holds no reals.

    What is not like the value stays as it is, for others to complain of.
    """
    match value:
        case bool() | int() | np.integer() | np.bool_():
            return type(value)(0) if tangent is None else tangent
        case np.ndarray() if value.dtype.names:
            return _with_all_fields(value, tangent)
        case np.ndarray() if value.dtype.kind != "f" and tangent is None:
            return np.zeros_like(value)
        case dict() if isinstance(tangent, dict) and tangent.keys() == value.keys():
            return {key: filled(value[key], part) for key, part in tangent.items()}
        case list() if isinstance(tangent, list) and len(value) == len(tangent):
            return list(map(filled, value, tangent))
        case tuple() if type(value) is tuple and isinstance(tangent, tuple):
            pairs = zip(value, tangent, strict=False)
            return (*[filled(*pair) for pair in pairs], *tangent[len(value) :])
        case _ if type(value) is type(tangent) and is_record(type(value)):
            return _record(value, tangent)
        case _:
            return tangent


def check_shapes(title: str, path: str, value: Any, direction: Any) -> None:
    """Refuse a direction whose arrays are not of the shapes of the value's."""
    if type(value) is type(direction) is np.ndarray and value.shape == direction.shape:
        return
    match value, direction:
        case (np.ndarray() | float(), np.ndarray() | float()):
            if np.shape(value) != np.shape(direction):
                raise call_rules.unlike_tangent(
                    f"{title}: {path} has shape {np.shape(value)}, its direction has "
                    f"{np.shape(direction)}"
                )
        case dict(), dict():
            for key in value.keys() & direction.keys():
                check_shapes(title, f"{path}[{key!r}]", value[key], direction[key])
        case (tuple() | list(), tuple() | list()) if type(value) in (tuple, list):
            if len(value) != len(direction):
                raise call_rules.unlike_tangent(
                    f"{title}: {path} has {len(value)} elements, its direction has "
                    f"{len(direction)}"
                )
            for k, pair in enumerate(zip(value, direction, strict=True)):
                check_shapes(title, f"{path}[{k}]", *pair)
        case _ if type(value) is type(direction) and is_record(type(value)):
            python: type = type(value)
            record = record_class(python)
            assert record is not None
            names = record.names
            parts = names.parts(value), names.parts(direction)
            for name, own, other in zip(names, *parts, strict=True):
                check_shapes(title, names.path(path, name), own, other)


def _record(value: Any, tangent: Any) -> Any:
    """An instance of a class; its constructor is not run."""
    python: type = type(value)
    record = record_class(python)
    assert record is not None
    names = record.names
    kinds = [field_annotation(record, field) for field in record.fields]
    columns = kinds, names.parts(value), names.parts(tangent)
    return names.make(*map(_field, *columns))


def _field(kind: Annotation, value: Any, tangent: Any) -> Any:
    """The tangent of a field; that of a gradient has None there as well."""
    if tangent is not None or value is not None:
        return filled(value, tangent)
    match kind:
        case Scalar():
            return DTYPES[kind].type(0).item()
        case Array(Scalar() as elem, rank):
            return np.zeros((0,) * rank, DTYPES[elem])
        case Array():
            return []
        case _:
            return None


def _with_all_fields(value: np.ndarray, tangent: Any) -> Any:
    """Rows of a structured array, of which a tangent has those that hold reals only."""
    if not isinstance(tangent, np.ndarray) or tangent.shape != value.shape:
        return tangent
    had = tangent.dtype.names
    if had is None or not set(had) < set(value.dtype.names or ()):
        return tangent
    columns = {name: np.zeros_like(value[name]) for name in value.dtype.names or ()}
    columns |= {name: filled(value[name], tangent[name]) for name in had}
    return structured(list(columns), list(columns.values()), value.shape)
