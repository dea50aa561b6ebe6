"""Arguments drawn at random, of the types that a function is annotated with.

Reals are uniform between two bounds, integers from 1 to 4, so that they may be indices
of arrays of 5. How many items an array or list has is said by its path (`x`, `p.b`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from chadllvm.cli.json_values import DTYPES
from chadllvm.cli.status import BadInput
from chadllvm.frontend.annotations import (
    Annotation,
    NumberList,
    OpenArray,
    OpenList,
    OpenProduct,
    OpenUnion,
)
from chadllvm.ir.record import Kind, ListNames, RecordNames, ReferenceNames
from chadllvm.ir.types import (
    BOOL,
    F64,
    I64,
    Array,
    Product,
    Scalar,
    Sum,
    list_elem,
    reference_names,
)
from chadllvm.ir.wording import said

LENGTH = 5
INTEGERS = (1, 4)
BETWEEN = (0.1, 0.9)


@dataclass
class Drawing:
    """Where numbers come from; `shapes` are those that were asked for, by path."""

    random: np.random.Generator
    shapes: Mapping[str, tuple[int, ...]]
    between: tuple[float, float] = BETWEEN
    used: set[str] = field(default_factory=set)

    def draw(self, annotation: Annotation, path: str) -> Any:
        """A value of this type.

        Raises:
            BadInput: if none can be drawn, or the shape that was asked for is not one.
        """
        match annotation:
            case Scalar():
                return self._scalar(annotation, path)
            case Array(Scalar() as elem, rank):
                return self._numbers(elem, self._shape(path, rank))
            case NumberList(elem):
                return self._numbers(elem, self._shape(path, 1)).tolist()
            case OpenArray(Scalar() | None as elem):
                return self._numbers(elem or F64, self._shape(path, None))
            case Array(elem, rank) | OpenList(elem, rank):
                return self._list(elem, self._shape(path, rank), path)
            case Product(_, ListNames() as names):
                return self._ragged(list_elem(annotation), names, path)
            case Product(_, ReferenceNames()):
                raise _cannot(path, f"{said(annotation)} contains itself")
            case Product(parts, names) | OpenProduct(parts, names):
                return self._product(parts, names, path)
            case Sum():
                return self._member(annotation.payloads, path)
            case OpenUnion(members):
                return self._member(members, path)
            case None if path in self.shapes:
                shape = self._shape(path, None)
                numbers = self._numbers(F64, shape)
                return numbers if shape else float(numbers)
            case None:
                raise _cannot(path, f"say its shape, as in --shape {path}=3")
            case _:
                raise _cannot(path, f"it is {said(annotation)}")

    def _shape(self, path: str, rank: int | None) -> tuple[int, ...]:
        found = self.shapes.get(path)
        if found is None:
            return (LENGTH,) * (1 if rank is None else rank)
        self.used.add(path)
        if rank is not None and len(found) != rank:
            wanted = ",".join(["3"] * rank)
            raise BadInput(
                f"--shape {path}: expected {rank} sizes, as in {path}={wanted}"
            )
        return found

    def _numbers(self, elem: Scalar, shape: tuple[int, ...]) -> Any:
        if elem == BOOL:
            return self.random.integers(0, 2, shape).astype(np.bool_)
        if elem == I64:
            return self.random.integers(*INTEGERS, shape, np.int64, endpoint=True)
        return self.random.uniform(*self.between, shape).astype(DTYPES[elem])

    def _scalar(self, scalar: Scalar, path: str) -> Any:
        self._shape(path, 0)
        number = self._numbers(scalar, ())
        return number if scalar.name == "f32" else number.item()

    def _list(self, elem: Any, shape: tuple[int, ...], path: str) -> Any:
        if not shape:
            return self.draw(elem, path)
        return [self._list(elem, shape[1:], f"{path}[{k}]") for k in range(shape[0])]

    def _ragged(self, elem: Scalar, names: ListNames, path: str) -> Any:
        """Lists of arrays of 1 to 5 in each dimension."""

        def item(shape: tuple[int, ...]) -> Any:
            if shape:
                return [item(shape[1:]) for _ in range(shape[0])]
            sizes = self.random.integers(1, LENGTH, names.rank, endpoint=True)
            numbers = self._numbers(elem, tuple(sizes.tolist()))
            return numbers.tolist() if names.of_lists else numbers

        return item(self._shape(path, names.depth))

    def _product(self, parts: Sequence[Any], names: Sequence[str], path: str) -> Any:
        if not isinstance(names, RecordNames):
            places = [f"{path}[{k}]" for k in range(len(parts))]
            return tuple(map(self.draw, parts, places))
        if names.kind is Kind.NONE:
            return None
        places = [names.path(path, name) for name in names]
        values = list(map(self.draw, parts, places))
        if not names.is_class:
            return names.make(*values)
        try:
            return names.python(**dict(zip(names, values, strict=True)))
        except Exception as error:
            raise _cannot(path, f"{names.title} refuses: {error}") from error

    def _member(self, members: Sequence[Any], path: str) -> Any:
        """One of the members, not one that contains itself if there are others."""
        found = [m for m in members if reference_names(m) is None] or members
        return self.draw(found[int(self.random.integers(len(found)))], path)


def _cannot(path: str, why: str) -> BadInput:
    return BadInput(f"{path} cannot be drawn ({why}); give a value for it")
