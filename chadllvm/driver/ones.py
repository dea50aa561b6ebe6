"""The sizes that are 1 in a call, which a version may suppose (`simplify/ones.py`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from chadllvm.backend.results import leaf_types
from chadllvm.ir.record import ListNames, RecordNames
from chadllvm.ir.types import Array, Product, Scalar, Type
from chadllvm.simplify.ones import Axis


def ones_of(types: Sequence[Type], args: Sequence[Any]) -> tuple[Axis, ...]:
    """The axes of size 1 that arrays have among arguments of these types."""
    shapes = [s for ty, arg in zip(types, args, strict=True) for s in _shapes(ty, arg)]
    return tuple(
        (leaf, axis)
        for leaf, shape in enumerate(shapes)
        for axis, size in enumerate(shape)
        if size == 1
    )


def _shapes(ty: Type, arg: Any) -> Iterator[tuple[int, ...]]:
    """The shapes of an argument's leaves; none of what is no array, or hard to read."""
    match ty:
        case Array(Scalar()):
            yield np.shape(arg)
        case Product(fields, RecordNames() as names) if names.is_class and all(
            hasattr(arg, name) for name in names
        ):
            for name, field in zip(names, fields, strict=True):
                yield from _shapes(field, getattr(arg, name))
        case Product(fields, names) if (
            isinstance(arg, tuple)
            and not isinstance(names, ListNames)
            and len(arg) == len(fields)
        ):
            for part, field in zip(arg, fields, strict=True):
                yield from _shapes(field, part)
        case _:
            yield from (() for _ in leaf_types(ty))
