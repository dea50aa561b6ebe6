"""Field names that know which Python container they are the fields of.

To the core a record is a product with names, and names are only compared. Those of a
`NamedTuple`, a dataclass, a dictionary or a row of a structured array remember what
they came from, so that values and gradients are given back in the same container, and
two classes with the same fields are two types.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from copy import deepcopy
from enum import Enum
from operator import attrgetter, itemgetter
from typing import Any

import numpy as np


class Kind(Enum):
    """How a container is taken apart and put together."""

    NAMED_TUPLE = "named tuple"
    DATACLASS = "dataclass"
    DICT = "dictionary"
    ROW = "row of a structured array"
    NONE = "None"
    SET = "set"
    OBJECT = "object"


class RecordNames(tuple[str, ...]):
    """The names of a container's fields; `python` is its class, NumPy's for a row.

    `make` takes the fields and gives the container.
    """

    kind: Kind
    python: type
    make: Callable[..., Any]

    def __new__(cls, names: Iterable[str], kind: Kind, python: type) -> RecordNames:
        self = super().__new__(cls, names)
        self.kind = kind
        self.python = python
        self.make = _maker(self)
        return self

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, RecordNames)
            and self.python is other.python
            and tuple.__eq__(self, other)
        )

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self.python, tuple(self)))

    def _reached_parts(self) -> tuple[object, ...]:
        return self.kind, self.python, tuple(self)

    @property
    def title(self) -> str:
        """What messages call the container."""
        if self.kind is Kind.NONE:
            return "None"
        return "row" if self.kind is Kind.ROW else self.python.__name__

    @property
    def is_class(self) -> bool:
        """Whether fields are attributes."""
        return self.kind in (Kind.NAMED_TUPLE, Kind.DATACLASS, Kind.OBJECT)

    @property
    def may_change(self) -> bool:
        """Whether Python assigns fields or entries of the container."""
        if self.kind is Kind.DATACLASS:
            return not is_frozen_dataclass(self.python)
        return self.kind is Kind.DICT

    @property
    def is_sequence(self) -> bool:
        """Whether it is unpacked and indexed as a tuple."""
        return self.kind is Kind.NAMED_TUPLE

    def path(self, owner: str, name: str) -> str:
        """A field as a user writes it."""
        return f"{owner}.{name}" if self.is_class else f'{owner}["{name}"]'

    def matches(self, value: Any) -> bool:
        """Whether a Python value is this container, with these fields."""
        if self.kind is Kind.DICT:
            return isinstance(value, dict) and value.keys() == set(self)
        if self.kind is Kind.ROW:
            return isinstance(value, np.void) and value.dtype.names == tuple(self)
        if self.kind is Kind.NONE:
            return value is None
        return type(value) is self.python

    def part(self, value: Any, name: str) -> Any:
        """A field of a container."""
        return getattr(value, name) if self.is_class else value[name]

    def column(self, values: Sequence[Any], name: str) -> list[Any]:
        """A field of many containers."""
        get: Callable[[Any], Any] = (
            attrgetter(name) if self.is_class else itemgetter(name)
        )
        return list(map(get, values))

    def match_all(self, values: Sequence[Any]) -> bool:
        """Whether all values are such containers."""
        if self.is_class:
            return set(map(type, values)) <= {self.python}
        return all(map(self.matches, values))

    def parts(self, value: Any) -> tuple[Any, ...]:
        """The fields of a container, in order."""
        return tuple([self.part(value, name) for name in self])


class ObjectNames(RecordNames):
    """The names of fields that were read of an object of an ordinary class.

    Fields that are no data have their values in `statics`, by which types differ; what
    can be neither is `unfit`, with the names of the classes.
    """

    statics: Mapping[str, Any]
    unfit: Mapping[str, str]
    _keys: Hashable
    _hash: int

    def __new__(
        cls,
        names: Iterable[str],
        python: type,
        statics: Mapping[str, Any],
        keys: Hashable,
        unfit: Iterable[tuple[str, str]],
    ) -> ObjectNames:
        self = tuple.__new__(cls, names)
        self.kind, self.python = Kind.OBJECT, python
        self.make = lambda *parts: Snapshot(self, parts)
        self.statics, self.unfit = statics, dict(unfit)
        self._keys = python, tuple(self), keys, tuple(self.unfit.items())
        self._hash = hash(self._keys)
        return self

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, ObjectNames) and self._keys == other._keys
        )

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return self._hash

    def _reached_parts(self) -> tuple[object, ...]:
        statics, unfit = [*self.statics.items()], [*self.unfit.items()]
        return *super()._reached_parts(), statics, unfit

    def matches(self, value: Any) -> bool:
        return type(value) is Snapshot and value.names == self

    def parts(self, value: Any) -> tuple[Any, ...]:
        return tuple(value)


class Snapshot(tuple[Any, ...]):
    """The fields of an object of an ordinary class, as they were when it was read."""

    names: ObjectNames

    def __new__(cls, names: ObjectNames, parts: Iterable[Any]) -> Snapshot:
        self = super().__new__(cls, parts)
        self.names = names
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Snapshot:
        return Snapshot(self.names, [deepcopy(part, memo) for part in self])

    def __reduce__(self) -> Any:
        names = self.names
        kept = (*names,), names.python, dict(names.statics), (*names.unfit.items(),)
        return _snapshot, (kept, tuple(self))


def _snapshot(kept: tuple[Any, ...], parts: tuple[Any, ...]) -> Snapshot:
    names, python, statics, unfit = kept
    keys = tuple([(n, type(v), v) for n, v in statics.items()])
    return Snapshot(ObjectNames(names, python, statics, keys, unfit), parts)


class SetNames(RecordNames):
    """The names of the parts of a set of integers (`frontend/sets.py`).

    A Python set has none: they are made of it.
    """

    def matches(self, value: Any) -> bool:
        is_set = isinstance(value, set | frozenset)
        return is_set and all(type(v) is int for v in value)

    def part(self, value: Any, name: str) -> Any:
        return self.parts(value)[self.index(name)]

    def column(self, values: Sequence[Any], name: str) -> list[Any]:
        return [self.part(value, name) for value in values]

    def match_all(self, values: Sequence[Any]) -> bool:
        return all(map(self.matches, values))

    def parts(self, value: Any) -> tuple[Any, ...]:
        """The elements, ascending; the table; how many slots are taken."""
        from chadllvm.support.hashed import rebuilt

        items = sorted(value)
        table = np.array(rebuilt(items, 1), np.int64)
        return np.array(items, np.int64), table, len(items)

    def __reduce__(self) -> Any:
        return _set_names, ()


def fit(value: Iterable[int]) -> bool:
    """Whether all of these integers have 64 bits."""
    return all(-(1 << 63) <= v < 1 << 63 for v in value)


def _set_names() -> SetNames:
    return SET_NAMES


class ReferenceNames(RecordNames):
    """The name of the one part of a reference: the number of a node in a heap.

    A class that contains itself has a heap, and what a value of it holds is the
    *content* of a node: `record` are the names of its fields, `read` gives its type.
    Gradients by data with integers in it are of the same class, and of another type,
    as there is None where the integers are: they have heaps of their own.
    """

    record: RecordNames
    heap: str
    # What these are gradients by, if it is not of the same type.
    primal: ReferenceNames | None
    _read: Callable[[], Any]

    def __new__(
        cls,
        record: RecordNames,
        read: Callable[[], Any],
        primal: ReferenceNames | None = None,
    ) -> ReferenceNames:
        self = tuple.__new__(cls, ("node",))
        self.kind, self.python, self.make = record.kind, record.python, record.make
        name = record.python.__qualname__.rpartition("<locals>.")[2]
        self.record, self.heap, self._read = record, name.replace(".", "_"), read
        self.primal = primal
        if primal is not None:
            self.heap += ".gradient"
        return self

    def _reached_parts(self) -> tuple[object, ...]:
        return *super()._reached_parts(), self.record, self.primal

    @property
    def content(self) -> Any:
        """The type of what a node holds.

        Raises:
            BadRecord: if no node can hold that (see `frontend/records.py`).
        """
        return self._read()

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ReferenceNames)
            and self.python is other.python
            and (self.primal is None) == (other.primal is None)
        )

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(("reference", self.python))


class ListNames(tuple[str, ...]):
    """The names of the parts of a list of arrays, each of a size of its own.

    The numbers of all arrays stand in one array `items`, one array behind the other;
    `starts_1` says where each begins, and where the last one ends. In a list of such
    lists `starts_2` says the same of the arrays, and so on for `depth` levels of lists.
    Of arrays of more dimensions than one, `sizes` has a row for each. What `is_part`
    has `count` elements of a list, from `first` on.

    `of_lists`: in Python the innermost arrays are lists of numbers.
    """

    depth: int
    rank: int
    of_lists: bool
    is_part: bool

    def __new__(
        cls, depth: int, rank: int, *, of_lists: bool = False, is_part: bool = False
    ) -> ListNames:
        starts = [f"starts_{level}" for level in range(1, depth + 1)]
        sizes = ["sizes"] if rank > 1 else []
        window = ["first", "count"] if is_part else []
        self = super().__new__(cls, ["items", *sizes, *starts, *window])
        self.depth, self.rank = depth, rank
        self.of_lists, self.is_part = of_lists, is_part
        return self

    def like(self, *, depth: int | None = None, is_part: bool = False) -> ListNames:
        """The same with another number of levels, as a part or not."""
        levels = self.depth if depth is None else depth
        return ListNames(levels, self.rank, of_lists=self.of_lists, is_part=is_part)

    def _reached_parts(self) -> tuple[object, ...]:
        return self._key()

    def _key(self) -> tuple[int, int, bool, bool]:
        return self.depth, self.rank, self.of_lists, self.is_part

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ListNames) and self._key() == other._key()

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self._key())

    def said(self, elem: str) -> str:
        """The list as an annotation, with numbers of this type."""
        inner = f"{elem}[{', '.join([':'] * self.rank)}]"
        if self.of_lists:
            inner = f"list[{elem}]"
        return "list[" * self.depth + inner + "]" * self.depth


def _maker(names: RecordNames) -> Callable[..., Any]:
    """What makes a container of its fields.

    Constructors are not run: what they check of a value need not hold for a gradient.
    """
    python = names.python
    match names.kind:
        case Kind.NAMED_TUPLE:
            return lambda *parts: tuple.__new__(python, parts)
        case Kind.DATACLASS:
            return _dataclass_maker(names)
        case Kind.DICT:
            return lambda *parts: dict(zip(names, parts, strict=True))
        case Kind.ROW:
            return lambda *parts: _row(names, parts)
        case Kind.SET:
            return lambda items, *_: None if items is None else set(items.tolist())
        case Kind.NONE | Kind.OBJECT:
            return lambda *_: None


def _dataclass_maker(names: RecordNames) -> Callable[..., Any]:
    """A frozen instance is filled behind the back of its `__setattr__`."""
    python, new, put = names.python, object.__new__, object.__setattr__

    def make(*parts: Any) -> Any:
        made: Any = new(python)
        for name, part in zip(names, parts, strict=True):
            put(made, name, part)
        return made

    return make


def _row(names: Sequence[str], parts: Sequence[Any]) -> Any:
    """A row; None, as the gradient by an integer, is left out."""
    pairs = zip(names, parts, strict=True)
    kept = {name: np.asarray(part) for name, part in pairs if part is not None}
    return structured(list(kept), list(kept.values()), ())[()]


def structured(
    names: Sequence[str], columns: Sequence[np.ndarray], shape: tuple[int, ...]
) -> np.ndarray:
    """A structured array of this shape; further dimensions are those of its fields."""
    rank = len(shape)
    fields = [
        (name, column.dtype, column.shape[rank:])
        for name, column in zip(names, columns, strict=True)
    ]
    array = np.empty(shape, np.dtype(fields))
    for name, column in zip(names, columns, strict=True):
        array[name] = column
    return array


def is_frozen_dataclass(python: Any) -> bool:
    """Whether a class is a dataclass whose instances do not change."""
    is_dataclass = dataclasses.is_dataclass(python)
    return is_dataclass and bool(python.__dataclass_params__.frozen)


def is_record_of(value: Any, names: Collection[str]) -> bool:
    """Whether an instance of a dataclass has these fields, and no other attributes."""
    held = getattr(value, "__dict__", None)
    return bool(names) and (held is None or held.keys() <= {*names})


def is_named_tuple(python: type) -> bool:
    """Whether a class was made by `typing.NamedTuple` or `collections.namedtuple`."""
    return issubclass(python, tuple) and hasattr(python, "_fields")


# The names of the parts of a set of integers: see `frontend/sets.py`.
SET_NAMES = SetNames(("items", "table", "used"), Kind.SET, set)

# The names of the fields of `None`, of which there are none.
NONE_NAMES = RecordNames((), Kind.NONE, type(None))
