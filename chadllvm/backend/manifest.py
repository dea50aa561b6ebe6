"""Types as plain data, which JSON can write, and back.

    f64[:, :]     ["array", "f64", 2]
    Point(x)      ["record", "named tuple", "module:Point", [["x", "f64"]]]
    Tree          ["node", "Tree"], and of all classes together what is in each

A record that is read back is of the class that it was, if the module of that is loaded
and the class has these fields, or of one that is given for its name; else of a class of
its own. A dataclass then becomes a frozen one. No module is loaded for it.
"""

from __future__ import annotations

import sys
from collections import namedtuple
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, make_dataclass
from typing import Any, assert_never

import numpy as np

from chadllvm.backend.results import Arrays, Choice, Group, Many, Result
from chadllvm.ir.record import (
    NONE_NAMES,
    Kind,
    ListNames,
    RecordNames,
    ReferenceNames,
)
from chadllvm.ir.types import (
    BOOL,
    F32,
    F64,
    I64,
    Acc,
    Array,
    Box,
    Fun,
    Product,
    Scalar,
    Sum,
    list_type,
)

_SCALARS = {str(scalar): scalar for scalar in (F64, F32, I64, BOOL)}

Description = Any


class NoDescription(ValueError):
    """There is no plain data for this type."""


def describe(ty: Result) -> Description:
    """A type as lists, strings and numbers.

    Raises:
        NoDescription: for types that no value outside of programs has.
    """
    match ty:
        case None:
            return None
        case Scalar(name):
            return name
        case Array(elem, rank):
            return ["array", describe(elem), rank]
        case Many(elem, rank):
            return ["many", describe(elem), rank]
        case Arrays(like):
            return ["arrays", describe(like)]
        case Product(_, ReferenceNames() as of):
            return ["node", of.heap]
        case Product(parts, ListNames() as names):
            key = [names.depth, names.rank, names.of_lists, names.is_part]
            return ["list", describe(parts[0]), *key]
        case Product(parts, names) | Group(parts, names):
            return _described_record(parts, names, isinstance(ty, Group))
        case Sum(constructors):
            return ["sum", [[name, describe(part)] for name, part in constructors]]
        case Choice(members):
            return ["choice", [describe(member) for member in members]]
        case Box() | Fun() | Acc():
            raise NoDescription(str(ty))
        case _:
            assert_never(ty)


def _described_record(parts: Any, names: Any, is_group: bool) -> Description:
    what = "group" if is_group else "product"
    if not isinstance(names, RecordNames):
        return [what, list(map(describe, parts)), list(names)]
    fields = [[n, describe(part)] for n, part in zip(names, parts, strict=True)]
    return ["record", what, names.kind.value, _place(names.python), fields]


def _place(python: type) -> str:
    return f"{python.__module__}:{python.__qualname__}"


def describe_class(of: ReferenceNames) -> Description:
    """What a class that contains itself is, and what it contains."""
    fields = zip(of.record, of.content.fields, strict=True)
    described = [[name, describe(ty)] for name, ty in fields]
    is_gradient = of.primal is not None
    return [of.kind.value, _place(of.python), is_gradient, described]


@dataclass
class Types:
    """Types of descriptions; `classes` are those of records, by name.

    `nodes` are the descriptions of classes that contain themselves.
    """

    classes: Mapping[str, type] = field(default_factory=dict)
    nodes: Mapping[str, Description] = field(default_factory=dict)
    _made: dict[Any, type] = field(default_factory=dict)

    def read(self, description: Description) -> Any:
        """The type, or result, that was described."""
        match description:
            case None:
                return None
            case str():
                return _SCALARS[description]
            case ["array", elem, rank]:
                return Array(self.read(elem), rank)
            case ["many", elem, rank]:
                return Many(self.read(elem), rank)
            case ["arrays", like]:
                return Arrays(self.read(like))
            case ["list", items, depth, rank, of_lists, is_part]:
                return _list(self.read(items), depth, rank, of_lists, is_part)
            case ["product" | "group" as what, parts, names]:
                kind: Any = Product if what == "product" else Group
                return kind(tuple(map(self.read, parts)), tuple(names))
            case ["node", heap]:
                return Product((I64,), self._reference(heap))
            case ["record", what, kind, place, fields]:
                return self._record(what, Kind(kind), place, fields)
            case ["sum", constructors]:
                pairs = [(name, self.read(part)) for name, part in constructors]
                return Sum(tuple(pairs))
            case ["choice", members]:
                return Choice(tuple(map(self.read, members)))
            case _:
                raise NoDescription(str(description))

    def _record(self, what: str, kind: Kind, place: str, fields: Any) -> Any:
        labels = tuple(name for name, _ in fields)
        parts = tuple(self.read(part) for _, part in fields)
        make: Any = Product if what == "product" else Group
        if kind is Kind.NONE:
            return make(parts, NONE_NAMES)
        return make(parts, RecordNames(labels, kind, self._class(kind, place, labels)))

    def _reference(self, heap: str) -> ReferenceNames:
        kind, place, is_gradient, fields = self.nodes[heap]
        labels = tuple(name for name, _ in fields)
        python = self._class(Kind(kind), place, labels)
        record = RecordNames(labels, Kind(kind), python)

        def content() -> Product:
            return Product(tuple(self.read(ty) for _, ty in fields), record)

        made = ReferenceNames(record, content)
        found = ReferenceNames(record, content, made) if is_gradient else made
        found.heap = heap
        return found

    def _class(self, kind: Kind, place: str, labels: tuple[str, ...]) -> type:
        if kind is Kind.DICT:
            return dict
        if kind is Kind.ROW:
            return np.void
        title = place.rpartition(":")[2].rpartition(".")[2]
        if title in self.classes:
            return self.classes[title]
        known = _loaded(place)
        if known is not None and _fields(known, kind) == labels:
            return known
        key = kind, place, labels
        if key not in self._made:
            is_tuple = kind is Kind.NAMED_TUPLE
            self._made[key] = (
                namedtuple(title, labels)
                if is_tuple
                else make_dataclass(title, labels, frozen=True)
            )
        return self._made[key]


def _loaded(place: str) -> type | None:
    """The class at a place, if it is there now."""
    module, _, path = place.partition(":")
    found: Any = sys.modules.get(module)
    for name in path.split("."):
        found = getattr(found, name, None)
    return found if isinstance(found, type) else None


def _fields(python: Any, kind: Kind) -> tuple[str, ...] | None:
    """The fields of a class of this kind; None if it is none."""
    if kind is Kind.NAMED_TUPLE:
        return getattr(python, "_fields", None)
    return tuple(f.name for f in fields(python)) if is_dataclass(python) else None


def _list(
    items: Array, depth: int, rank: int, of_lists: bool, is_part: bool
) -> Product:
    assert isinstance(items.elem, Scalar)
    names = ListNames(depth, rank, of_lists=of_lists, is_part=is_part)
    return list_type(items.elem, names)
