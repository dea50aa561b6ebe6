"""Recursive data on its way out of the columns of heaps.

What the results refer to is found first, and made then: blank objects of dataclasses,
which are filled, or, where there are named tuples, each one behind its parts. A node
that several others refer to is one object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from chadllvm.backend.nodes import Columns
from chadllvm.backend.results import leaf_types
from chadllvm.ir.record import Kind, RecordNames, ReferenceNames
from chadllvm.ir.types import Array, Product, Scalar, Sum, Type, is_float
from chadllvm.support.diagnostic import InternalError

# What gives the value at a position.
_Get = Callable[[int], Any]


class Reader:
    """Makes Python objects of numbers of nodes.

    With `reals`, all other numbers are None.
    """

    def __init__(self, columns: Columns, *, reals: bool = False) -> None:
        self.columns = columns
        self.reals = reals
        self.classes = [*columns]
        self._made: list[dict[int, Any]] = [{} for _ in columns]
        self._lists = [
            [_listed(leaf) for leaf in leaves] for leaves in columns.values()
        ]
        self._slots = [self._slots_of(names) for names in self.classes]

    def value(self, ty: Type, leaves: Sequence[Any]) -> Any:
        """The value of a type that has these leaves."""
        self._make(ty, leaves)
        return self._value(ty, iter(leaves))

    def _value(self, ty: Type, leaves: Iterator[Any]) -> Any:
        match ty:
            case Scalar():
                leaf = next(leaves)
                return None if self.reals and not is_float(ty) else leaf
            case Product(_, ReferenceNames() as names):
                return self._made[self.classes.index(names)][next(leaves)]
            case Product(fields, names):
                parts = [self._value(field, leaves) for field in fields]
                return _container(names)(*parts)
            case Sum():
                tag = next(leaves)
                counts = [len(leaf_types(m)) for m in ty.payloads]
                options = [[next(leaves) for _ in range(n)] for n in counts]
                return self._value(ty.payloads[tag], iter(options[tag]))
            case Array(Scalar() as elem):
                leaf = next(leaves)
                return None if self.reals and not is_float(elem) else leaf
            case Array(elem):
                own = [next(leaves) for _ in leaf_types(elem)]
                get = self._getter(elem, iter(map(_listed, own)))
                return [get(k) for k in range(len(own[0]))]
            case _:
                raise InternalError(f"a result of type {ty}")

    # ---- what there is to make

    def _slots_of(self, names: ReferenceNames) -> list[tuple[int, list[int]]]:
        """Where nodes of a class refer to others: their class and, or -1, number."""
        columns = self.columns[names]
        everywhere = np.ones(len(columns[0]) if columns else 0, np.bool_)
        return [*self._refs(names.content, iter(columns), everywhere)]

    def _refs(
        self, ty: Type, leaves: Iterator[Any], mask: np.ndarray
    ) -> Iterator[tuple[int, list[int]]]:
        match ty:
            case Product(_, ReferenceNames() as names):
                numbers: list[int] = np.where(mask, next(leaves), -1).tolist()
                yield self.classes.index(names), numbers
            case Product(fields):
                for field in fields:
                    yield from self._refs(field, leaves, mask)
            case Sum():
                tag = next(leaves)
                for k, payload in enumerate(ty.payloads):
                    yield from self._refs(payload, leaves, mask & (tag == k))
            case Array(elem):
                yield from self._refs(elem, leaves, mask)
            case _:
                next(leaves)

    def _make(self, ty: Type, leaves: Sequence[Any]) -> None:
        """Make the objects that a value refers to, and all that is in them."""
        roots: list[tuple[int, int]] = []
        arrays = [np.atleast_1d(np.asarray(leaf)) for leaf in leaves]
        for c, numbers in self._refs_of_value(ty, arrays):
            roots += [(c, k) for k in numbers if k >= 0 and k not in self._made[c]]
        if not roots:
            return
        if all(names.kind is Kind.DATACLASS for names in self.classes):
            self._fill(self._reached(roots))
        else:
            self._make_behind_parts(roots)

    def _refs_of_value(
        self, ty: Type, leaves: Sequence[np.ndarray]
    ) -> Iterator[tuple[int, list[int]]]:
        """The numbers of nodes in a value, each of whose leaves is an array here."""
        match ty:
            case Product(fields) if not isinstance(ty.names, ReferenceNames):
                for field in fields:
                    count = len(leaf_types(field))
                    yield from self._refs_of_value(field, leaves[:count])
                    leaves = leaves[count:]
            case Sum():
                tag, *rest = leaves
                for k, payload in enumerate(ty.payloads):
                    count = len(leaf_types(payload))
                    if tag[0] == k:
                        yield from self._refs_of_value(payload, rest[:count])
                    rest = rest[count:]
            case Array(elem) if not isinstance(elem, Scalar):
                everywhere = np.ones(len(leaves[0]), np.bool_)
                yield from self._refs(elem, iter(leaves), everywhere)
            case Product():
                yield from self._refs(ty, iter(leaves), np.ones(1, np.bool_))
            case _:
                return

    def _reached(self, roots: Sequence[tuple[int, int]]) -> list[list[int]]:
        """The numbers of all nodes that are reached and not made, by class."""
        seen = [bytearray(_size(self.columns[names])) for names in self.classes]
        stacks: list[list[int]] = [[] for _ in self.classes]
        found: list[list[int]] = [[] for _ in self.classes]
        for c, made in enumerate(self._made):
            for k in made:
                seen[c][k] = 1
        for c, k in roots:
            if not seen[c][k]:
                seen[c][k] = 1
                stacks[c].append(k)
        while any(stacks):
            for c, stack in enumerate(stacks):
                slots, enter = self._slots[c], found[c].append
                while stack:
                    k = stack.pop()
                    enter(k)
                    for target, numbers in slots:
                        j = numbers[k]
                        if j >= 0 and not seen[target][j]:
                            seen[target][j] = 1
                            stacks[target].append(j)
        return found

    def _fill(self, found: Sequence[Sequence[int]]) -> None:
        """Make blank objects of all these, then give them their fields."""
        new, put = object.__new__, object.__setattr__
        for c, numbers in enumerate(found):
            python: Any = self.classes[c].python
            self._made[c].update((k, new(python)) for k in numbers)
        for c, numbers in enumerate(found):
            made = self._made[c]
            for name, get in self._fields(c):
                for k in numbers:
                    put(made[k], name, get(k))

    def _make_behind_parts(self, roots: Sequence[tuple[int, int]]) -> None:
        """Make each object when all its parts are there."""
        fields = [[get for _, get in self._fields(c)] for c in range(len(self.classes))]
        stack = [(c, k, False) for c, k in roots]
        while stack:
            c, k, is_ready = stack.pop()
            made = self._made[c]
            if k in made:
                continue
            if is_ready:
                made[k] = self.classes[c].make(*[get(k) for get in fields[c]])
                continue
            stack.append((c, k, True))
            for target, numbers in self._slots[c]:
                if numbers[k] >= 0 and numbers[k] not in self._made[target]:
                    stack.append((target, numbers[k], False))

    def _fields(self, c: int) -> list[tuple[str, _Get]]:
        names = self.classes[c]
        leaves = iter(self._lists[c])
        return [
            (name, self._getter(field, leaves))
            for name, field in zip(names.record, names.content.fields, strict=True)
        ]

    def _getter(self, ty: Type, leaves: Iterator[list[Any]]) -> _Get:
        """What gives the value of a type at a position of its leaves."""
        match ty:
            case Scalar():
                leaf = next(leaves)
                if self.reals and not is_float(ty):
                    return lambda k: None
                return leaf.__getitem__
            case Product(_, ReferenceNames() as names):
                made, numbers = self._made[self.classes.index(names)], next(leaves)
                return lambda k: made[numbers[k]]
            case Product(fields, names):
                parts = [self._getter(field, leaves) for field in fields]
                make = _container(names)
                return lambda k: make(*[get(k) for get in parts])
            case Sum():
                tags = next(leaves)
                options = [self._getter(payload, leaves) for payload in ty.payloads]
                return lambda k: options[tags[k]](k)
            case _:
                raise InternalError(f"a node that holds {ty}")


def _container(names: tuple[str, ...]) -> Callable[..., Any]:
    if isinstance(names, RecordNames):
        return names.make
    return lambda *parts: parts


def _listed(leaf: np.ndarray) -> list[Any]:
    """The numbers of an array; f32 stay NumPy's, which know their width."""
    if leaf.dtype == np.float32:
        return list(leaf)
    numbers: list[Any] = leaf.tolist()
    return numbers


def _size(columns: Sequence[np.ndarray]) -> int:
    return len(columns[0]) if columns else 0
