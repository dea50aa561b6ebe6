"""The real numbers in a value: counted, listed by their places, moved."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np


def stepped(value: Any, steps: np.ndarray) -> Any:
    """A value with its reals moved by these numbers, in order."""
    rest = iter(steps.tolist())
    return mapped(value, lambda x: _plus(x, rest), lambda x: x)


def _plus(x: Any, steps: Iterator[float]) -> Any:
    """A number or an array, each number of it moved by the next step."""
    if not isinstance(x, np.ndarray):
        return type(x)(x + next(steps))
    moved = [number + next(steps) for number in x.ravel().tolist()]
    return np.array(moved, x.dtype).reshape(x.shape)


def mapped(value: Any, real: Callable[[Any], Any], other: Callable[[Any], Any]) -> Any:
    """A value with its reals changed, and all else that is no container."""

    def inside(part: Any) -> Any:
        return mapped(part, real, other)

    match value:
        case np.ndarray() if value.dtype.names:
            raise ValueError(
                "derivatives by structured arrays are not checked; use lists of records"
            )
        case float() | np.floating():
            return real(value)
        case np.ndarray() if value.dtype.kind == "f":
            return real(value)
        case tuple() if hasattr(value, "_fields"):
            return type(value)(*map(inside, value))
        case tuple() | list():
            return type(value)(map(inside, value))
        case dict():
            return {key: inside(part) for key, part in value.items()}
        case _ if is_dataclass(value) and not isinstance(value, type):
            parts = {f.name: inside(getattr(value, f.name)) for f in fields(value)}
            return replace(value, **parts)
        case _:
            return other(value)


def numbers(value: Any) -> Iterator[bool]:
    """True for each real number or array of them in a value."""
    found: list[bool] = []
    mapped(value, lambda _: found.append(True), lambda _: None)
    return iter(found)


def all_numbers(value: Any) -> np.ndarray:
    """All reals in a value."""
    found: list[np.ndarray] = [np.zeros(0)]
    mapped(value, lambda x: found.append(np.ravel(x)), lambda _: None)
    return np.concatenate(found).astype(np.float64)


def has_singles(value: Any) -> bool:
    """Whether there are f32 in a value."""
    found: list[bool] = []

    def note(x: Any) -> None:
        found.append(np.asarray(x).dtype == np.float32)

    mapped(value, note, lambda _: None)
    return any(found)


def places(value: Any, path: str) -> Iterator[str]:
    """The place of each real number in a value, in order, as a user writes it."""
    match value:
        case float() | np.floating():
            yield path
        case np.ndarray() if value.dtype.kind == "f":
            for index in np.ndindex(value.shape):
                yield f"{path}[{', '.join(map(str, index))}]" if index else path
        case tuple() if hasattr(value, "_fields"):
            for name in value._fields:
                yield from places(getattr(value, name), f"{path}.{name}")
        case tuple() | list():
            for k, part in enumerate(value):
                yield from places(part, f"{path}[{k}]")
        case dict():
            for key, part in value.items():
                yield from places(part, f"{path}[{key!r}]")
        case _ if is_dataclass(value) and not isinstance(value, type):
            for field in fields(value):
                yield from places(getattr(value, field.name), f"{path}.{field.name}")
        case _:
            return
