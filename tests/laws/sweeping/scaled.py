"""Arguments of a program → the same with arrays and lists that are longer."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.campaign.values import parts

Scale = Callable[[np.ndarray, int], np.ndarray]


def along_all(array: np.ndarray, factor: int) -> np.ndarray:
    """Longer along each axis; a square matrix is repeated down the diagonal.

    So it stays what it may have to be: of full rank, symmetric, triangular.
    """
    if array.ndim == 2 and array.shape[0] == array.shape[1] and array.dtype.kind == "f":
        return np.kron(np.eye(factor, dtype=array.dtype), array)
    return np.tile(array, (factor,) * array.ndim)


def along_first(array: np.ndarray, factor: int) -> np.ndarray:
    """More rows of the same length."""
    return np.tile(array, (factor, *[1] * (array.ndim - 1)))


WAYS: tuple[Scale, ...] = (along_all, along_first)


def scaled(value: Any, factor: int, scale: Scale) -> Any:
    """A value with so many times the elements; what is no array or list stays."""
    match value:
        case np.ndarray() if value.ndim:
            return scale(value, factor)
        case list():
            return value * factor
        case dict():
            return {name: scaled(v, factor, scale) for name, v in value.items()}
    components = parts(value)
    if components is None or isinstance(value, np.ndarray | np.void):
        return value
    made = [scaled(component, factor, scale) for component in components]
    if isinstance(value, tuple):
        return type(value)(*made) if hasattr(value, "_fields") else tuple(made)
    names = [f.name for f in dataclasses.fields(value)]
    return dataclasses.replace(value, **dict(zip(names, made, strict=True)))


def size(value: Any) -> int:
    """How many numbers there are in arguments."""
    if isinstance(value, np.ndarray) and not value.dtype.names:
        return value.size
    components = parts(value)
    return 1 if components is None else sum(map(size, components))


def is_scaled(value: Any) -> bool:
    """Whether there is an array or a list in it, which may be longer."""
    if isinstance(value, np.ndarray | list):
        return bool(np.ndim(value) if isinstance(value, np.ndarray) else value)
    components = parts(value)
    return components is not None and any(map(is_scaled, components))
