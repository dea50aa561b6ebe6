"""`ravel`: a record of numbers and arrays as one vector, and back.

    vector, unravel = ravel(Model(slope=2.0, offsets=np.zeros(3)))
    unravel(vector).slope   →   2.0

`unravel` is written out for the structure, and compiled:

    def unravel(v): return Model(slope=v[0], offsets=v[1:4])
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np

from chadllvm.api.transforms import jit
from chadllvm.api.vectorized import written

T = TypeVar("T")


def ravel(tree: T) -> tuple[np.ndarray[Any, Any], Callable[[Any], T]]:
    """The numbers of a record in one vector, and the function that makes it of them.

    Args:
        tree: a float, an array of floats, or a tuple, named tuple, frozen dataclass,
            dictionary with names or list of these. Arrays are of float64.

    Returns:
        A float64 vector with the numbers in the order of the fields, those of arrays in
        C order; and `unravel(vector)`, a compiled function, which programs may call. It
        makes the same structure with arrays of the same shapes.

    Raises:
        TypeError: if there is anything else in it; it says where.
        ValueError: from `unravel`, if the vector has another size.
    """
    writer = _Writer()
    body = writer.text(tree, "the record")
    size = writer.size
    check = f'if len(v) != {size}:\n        raise ValueError("expected {size} numbers")'
    text = f"{check}\n    return {body}"
    file = f"<ravel {id(writer)}>"
    unravel = written("unravel(v)", text, writer.names, __name__, file)
    vector = np.concatenate([np.zeros(0), *writer.parts])
    return vector, jit(unravel)


class _Writer:
    """Writes the expression of a structure, and collects its numbers."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {}
        self.parts: list[np.ndarray[Any, Any]] = []
        self.size = 0

    def text(self, tree: Any, place: str) -> str:
        """The expression that makes this of the vector v."""
        match tree:
            case bool() | int():
                raise TypeError(f"{place} is {tree!r}, which is no float")
            case float():
                return self._numbers(np.array([tree]), "v[{0}]")
            case np.ndarray():
                return self._array(tree, place)
            case dict():
                parts = self._parts(tree.items(), "{}[{!r}]", place)
                return "{" + ", ".join(f"{k!r}: {p}" for k, p in parts) + "}"
            case list():
                parts = self._parts(enumerate(tree), "{}[{!r}]", place)
                return "[" + ", ".join(p for _, p in parts) + "]"
            case tuple() if not hasattr(tree, "_fields"):
                parts = self._parts(enumerate(tree), "{}[{!r}]", place)
                return "(" + "".join(f"{p}, " for _, p in parts) + ")"
        fields = _fields(tree)
        if fields is None:
            raise TypeError(f"{place} is of {type(tree).__name__}, not of floats")
        name = f"c{len(self.names)}"
        self.names[name] = type(tree)
        held = [(field, getattr(tree, field)) for field in fields]
        parts = self._parts(held, "{}.{}", place)
        return f"{name}(" + ", ".join(f"{field}={p}" for field, p in parts) + ")"

    def _parts(self, held: Any, form: str, place: str) -> Iterator[tuple[Any, str]]:
        for key, part in held:
            yield key, self.text(part, form.format(place, key))

    def _array(self, array: np.ndarray[Any, Any], place: str) -> str:
        if array.dtype != np.float64:
            raise TypeError(f"{place} is an array of {array.dtype}, not of float64")
        if array.ndim == 0:
            raise TypeError(f"{place} is an array without dimensions")
        shape = "" if array.ndim == 1 else f".reshape({array.shape})"
        return self._numbers(array.ravel(), "v[{0}:{1}]" + shape)

    def _numbers(self, numbers: np.ndarray[Any, Any], form: str) -> str:
        first, self.size = self.size, self.size + len(numbers)
        self.parts.append(numbers.astype(np.float64))
        return form.format(first, self.size)


def _fields(tree: Any) -> tuple[str, ...] | None:
    """The names of the fields of a named tuple or a dataclass."""
    if hasattr(tree, "_fields"):
        return tuple(tree._fields)
    if dataclasses.is_dataclass(tree) and not isinstance(tree, type):
        return tuple(field.name for field in dataclasses.fields(tree))
    return None
