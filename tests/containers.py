"""The numbers and arrays in Python's containers, and containers made of others."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from chadllvm.ir.record import ListNames, RecordNames
from chadllvm.ir.types import Array, Product, Scalar, Sum, Type, has_float
from chadllvm.ir.union import member_of
from chadllvm.ir.value import from_value, to_value
from chadllvm.simplify.flatten import parts_of
from chadllvm.simplify.pieces import Part


def parts(value: Any) -> list[Any] | None:
    """The components of a tuple, a record, a dictionary or a structured array."""
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, np.ndarray | np.void) and value.dtype.names:
        return [value[name] for name in value.dtype.names]
    if dataclasses.is_dataclass(value):
        return [getattr(value, f.name) for f in dataclasses.fields(value)]
    return None


def rebuilt(value: Any, components: list[Any]) -> Any:
    """The container of these components, in place of those of `value`."""
    match value:
        case tuple():
            kind = type(value)
            return kind(*components) if hasattr(kind, "_fields") else tuple(components)
        case dict():
            return dict(zip(value, components, strict=True))
        case np.ndarray() | np.void():
            return _structured(value, components)
        case _:
            names = [f.name for f in dataclasses.fields(value)]
            return type(value)(**dict(zip(names, components, strict=True)))


def _structured(value: Any, components: list[Any]) -> Any:
    """A structured array or row of the components that are not None."""
    names = value.dtype.names or ()
    kept = {
        name: np.asarray(component)
        for name, component in zip(names, components, strict=True)
        if component is not None
    }
    rank = len(value.shape)
    new = np.zeros(value.shape, [(n, c.dtype, c.shape[rank:]) for n, c in kept.items()])
    for name, component in kept.items():
        new[name] = component
    return new if rank else new[()]


def leaves(value: Any) -> list[Any]:
    """The numbers and arrays in a container; None (no cotangent) is left out.

    A list of records gives an array for each leaf of a record; one of several classes
    the leaves of each; one of arrays all their numbers.
    """
    if value is None:
        return []
    if is_ragged(value):
        numbers = [np.ravel(leaf) for item in value for leaf in leaves(item)]
        return [np.concatenate([np.zeros(0), *numbers])]
    if isinstance(value, list):
        rows = list(map(leaves, value))
        is_mixed = len({(type(v), len(r)) for v, r in zip(value, rows, strict=True)})
        if is_mixed > 1:
            return [leaf for row in rows for leaf in row]
        return [np.array(column) for column in zip(*rows, strict=True)]
    components = parts(value)
    if components is None:
        return [value]
    return [leaf for component in components for leaf in leaves(component)]


def has_union(ty: Type) -> bool:
    """Whether there are unions in values of this type."""
    match ty:
        case Sum():
            return True
        case Product(fields):
            return any(map(has_union, fields))
        case Array(elem, _):
            return has_union(elem)
        case _:
            return False


# What a union holds of the members that its value is not of.
_NOTHING = object()


def flattened(value: Any, ty: Type, *, real: bool = False) -> list[Any]:
    """The leaves that an argument of this type is to native code, unions as well.

    With `real`, those of a gradient: the reals, and what tells the members of unions.
    """
    match ty:
        case Sum():
            tag = 0 if value is _NOTHING else member_of(ty, value)
            assert tag is not None
            found = [tag]
            for k, member in enumerate(ty.payloads):
                own = value if k == tag else _NOTHING
                found += flattened(own, member, real=real)
            return found
        case Product(_, ListNames()):
            own = [] if value is _NOTHING else value
            pairs = zip(to_value(own, ty), ty.fields, strict=True)
            return [from_value(part, field) for part, field in pairs]
        case Product(fields, names):
            named = isinstance(names, RecordNames)
            if value is None or value is _NOTHING:
                own = [value] * len(fields)
            else:
                own = names.parts(value) if named else value
            pairs = zip(own, fields, strict=True)
            return [leaf for v, f in pairs for leaf in flattened(v, f, real=real)]
        case Array(elem, rank) if not isinstance(elem, Scalar):
            if real and not has_float(ty):
                return []
            inner = elem if rank == 1 else Array(elem, rank - 1)
            rows = [flattened(item, inner, real=real) for item in value]
            own = [p for p in parts_of(elem) if not real or is_kept(p)]
            found = []
            for column, part in zip(zip(*rows, strict=True), own, strict=True):
                found += pieces(column) if part.is_piece else [np.array(column)]
            return found
        case Scalar() | Array() if real and not has_float(ty):
            return []
        case Scalar():
            number = to_value(0 if value is _NOTHING else value, ty)
            return [from_value(number, ty) if real else number]
        case Array(elem, rank):
            return [np.zeros((0,) * rank) if value is _NOTHING else value]
        case _:
            raise AssertionError(ty)


def is_kept(part: Part) -> bool:
    """Whether a gradient has this leaf: a real, or what tells a member."""
    return has_float(part.type) or part.suffix.endswith("_tag")


def pieces(arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Arrays of sizes of their own: see `simplify/pieces.py`."""
    ends = np.cumsum([0, *(array.size for array in arrays)])
    sizes = np.array([array.shape for array in arrays]).T
    return [np.concatenate([a.ravel() for a in arrays]), ends[:-1], *sizes]


def is_ragged(value: Any) -> bool:
    """Whether this is a list of arrays, or of lists of numbers."""
    if not isinstance(value, list):
        return False
    return all(is_ragged(v) if isinstance(v, list) else parts(v) is None for v in value)


def drawn(value: Any, random: np.random.Generator) -> Any:
    """A tangent for an argument: None for integers and booleans, left out of rows."""
    if isinstance(value, list):
        return [drawn(item, random) for item in value]
    components = parts(value)
    if components is not None:
        return rebuilt(value, [drawn(component, random) for component in components])
    match value:
        case float():
            return float(random.normal())
        case np.ndarray() if value.dtype == np.float64:
            return random.normal(size=value.shape)
        case _:
            return None


def moved(value: Any, direction: Any, step: float) -> Any:
    """The argument moved along a tangent."""
    if direction is None:
        return value
    if isinstance(value, list):
        pairs = zip(value, direction, strict=True)
        return [moved(v, d, step) for v, d in pairs]
    components = parts(value)
    if components is None:
        return value + step * direction
    if isinstance(value, np.ndarray | np.void):
        along = {name: direction[name] for name in direction.dtype.names}
        directions = [along.get(name) for name in value.dtype.names]
    else:
        directions = parts(direction) or []
    pairs = zip(components, directions, strict=True)
    return rebuilt(value, [moved(v, d, step) for v, d in pairs])


def along(gradient: Any, direction: Any) -> float:
    """How fast a function with this gradient changes in a direction."""
    pairs = zip(leaves(gradient), leaves(direction), strict=True)
    return float(sum(np.sum(a * b) for a, b in pairs))
