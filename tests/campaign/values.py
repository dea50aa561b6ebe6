"""The numbers of a value, its distance from another, and nudges of a last place."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np


def parts(value: Any) -> Iterator[Any] | None:
    """The components of a container, or None of a number or an array."""
    if isinstance(value, np.ndarray | np.void) and value.dtype.names:
        return iter([value[name] for name in value.dtype.names])
    if isinstance(value, tuple | list):
        return iter(value)
    if isinstance(value, dict):
        return iter(value.values())
    if dataclasses.is_dataclass(value):
        return iter([getattr(value, f.name) for f in dataclasses.fields(value)])
    return None


def leaves(value: Any) -> list[np.ndarray]:
    """Its numbers and arrays; a list of numbers is an array, None is left out."""
    if value is None:
        return []
    components = parts(value)
    if components is None:
        leaf = np.asarray(value)
        is_opaque = leaf.dtype.kind == "O" and not isinstance(value, int)
        return [] if is_opaque else [leaf]
    if isinstance(value, list) and all(
        np.ndim(v) == 0 and parts(v) is None for v in value
    ):
        return [np.asarray(value, float)]
    return [leaf for component in components for leaf in leaves(component)]


def is_real(value: Any) -> bool:
    """Whether there are floats in it."""
    return any(leaf.dtype.kind == "f" for leaf in leaves(value))


def map_floats(value: Any, change: Any) -> Any:
    """The same container with other floats."""
    match value:
        case bool() | int() | None | str():
            return value
        case float() | np.floating():
            return type(value)(change(np.asarray(value)))
        case np.ndarray() | np.void() if value.dtype.names:
            copy = value.copy()
            for name in value.dtype.names:
                copy[name] = map_floats(value[name], change)
            return copy
        case np.ndarray() if value.dtype.kind == "f":
            return change(value).astype(value.dtype)
        case np.ndarray() | np.generic():
            return value
        case dict():
            return {k: map_floats(v, change) for k, v in value.items()}
        case tuple() if hasattr(value, "_fields"):
            return type(value)(*(map_floats(v, change) for v in value))
        case tuple() | list():
            return type(value)(map_floats(v, change) for v in value)
        case _ if not dataclasses.is_dataclass(value):
            return value
        case _:
            fields = dataclasses.fields(value)
            changed = {
                f.name: map_floats(getattr(value, f.name), change) for f in fields
            }
            return dataclasses.replace(value, **changed)


def nudged(value: Any, random: Random, size: float = 1.0) -> Any:
    """Each float moved by about a unit in its last place, up or down."""

    def change(x: np.ndarray) -> np.ndarray:
        signs = np.array([random.choice((-size, size)) for _ in range(x.size)])
        return x + np.where(
            np.isfinite(x), signs.reshape(x.shape) * np.spacing(np.abs(x)), 0
        )

    with np.errstate(all="ignore"):
        return map_floats(value, change)


def directions(value: Any, random: np.random.Generator) -> Any:
    """A tangent of a value: None in the place of what holds no floats."""
    match value:
        case bool() | int() | None | str():
            return None
        case float():
            return float(random.normal())
        case np.floating():
            return type(value)(random.normal())
        case np.ndarray() | np.void() if value.dtype.names:
            kept = [n for n in value.dtype.names if value.dtype[n].kind == "f"]
            made = np.zeros(value.shape, [(n, value.dtype[n]) for n in kept])
            for name in kept:
                made[name] = random.normal(size=value.shape)
            return made if value.shape else made[()]
        case np.ndarray() if value.dtype.kind == "f":
            return random.normal(size=value.shape).astype(value.dtype)
        case np.ndarray() | np.generic():
            return None
        case dict():
            return {k: directions(v, random) for k, v in value.items()}
        case tuple() if hasattr(value, "_fields"):
            return type(value)(*(directions(v, random) for v in value))
        case tuple() | list():
            return type(value)(directions(v, random) for v in value)
        case _ if not dataclasses.is_dataclass(value):
            return None
        case _:
            fields = dataclasses.fields(value)
            made = {f.name: directions(getattr(value, f.name), random) for f in fields}
            return type(value)(**made)


def moved(value: Any, direction: Any, step: float) -> Any:
    """The value, a step further in a direction."""
    if direction is None:
        return value
    steps = iter([leaf for leaf in leaves(direction)])

    def change(x: np.ndarray) -> np.ndarray:
        return x + step * next(steps).reshape(x.shape)

    if isinstance(value, list) and value and all(isinstance(v, float) for v in value):
        return [v + step * d for v, d in zip(value, direction, strict=True)]
    return map_floats(value, change)


def dot(one: Any, other: Any) -> float:
    """The scalar product; what is None on a side counts nothing."""
    if one is None or other is None:
        return 0.0
    first, second = parts(one), parts(other)
    if first is not None and second is not None:
        if isinstance(one, np.ndarray | np.void):
            names = [n for n in one.dtype.names if n in other.dtype.names]
            return sum(dot(one[n], other[n]) for n in names)
        return sum(dot(a, b) for a, b in zip(first, second, strict=True))
    x, y = np.asarray(one), np.asarray(other)
    if x.dtype.kind != "f" or y.dtype.kind != "f":
        return 0.0
    return float(np.sum(x.astype(float) * y.astype(float)))
