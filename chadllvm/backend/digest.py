"""What a core program means, in few bytes: the same for programs that are the same.

Two programs have one digest if they differ in nothing but the places in the user's
source that they come from (and the identity of their variables). These are numbered in
the order in which they are first met, so that what one program's code says of a place
can be said of another's: the program's own list of places goes with its digest.

Anything that stands in a term is part of the digest, whatever it is called: the fields
of nodes, operations and types are read as they are declared. What cannot be told apart
in this way makes the program `Indescribable`, and it has no digest.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np

from chadllvm.backend.hashing import digest_of
from chadllvm.frontend.closures import ClosureNames
from chadllvm.ir.op import PRIMS, Prim
from chadllvm.ir.record import ListNames, RecordNames, ReferenceNames
from chadllvm.ir.term import Var
from chadllvm.support.diagnostic import Span


class Indescribable(Exception):
    """Something in a program that has no description."""


class Description:
    """The text of some things, and the places in it, as far as it has been written."""

    def __init__(self) -> None:
        self.places: dict[Span, int] = {}
        self._parts: list[str] = []
        # The numbers of what is told apart by identity, kept alive, and of types.
        self._seen: dict[int, tuple[int, Any]] = {}
        self._names: dict[Any, int] = {}

    def add(self, value: Any) -> None:
        """Write one more thing.

        Raises:
            Indescribable: if there is something in it that has no description.
        """
        write = _WRITERS.get(type(value))
        if write is None:
            write = _WRITERS[type(value)] = _writer(type(value))
        write(self, value)

    def digest(self) -> bytes:
        """The digest of all that was written."""
        return digest_of("\0".join(self._parts).encode(errors="surrogatepass"))

    # ---- kinds of things

    def _word(self, *words: str) -> None:
        self._parts += words

    def _sequence(self, values: Iterable[Any]) -> None:
        self._word("(")
        for value in values:
            self.add(value)
        self._word(")")

    def _set(self, values: Iterable[Any]) -> None:
        if not all(isinstance(value, str | int) for value in values):
            raise Indescribable("a set of objects")
        self._sequence(sorted(values))

    def _place(self, span: Span) -> None:
        self._word(f"@{self.places.setdefault(span, len(self.places))}")

    def _variable(self, var: Var) -> None:
        if self._is_new(var):
            self._word(repr(var.name))
            self.add(var.type)

    def _is_new(self, value: Any) -> bool:
        """Note what is told apart by identity; it is written once, and then named."""
        is_new = id(value) not in self._seen
        number, _ = self._seen.setdefault(id(value), (len(self._seen), value))
        self._word(f"{'new' if is_new else 'the'} {number}")
        return is_new

    def _array(self, value: np.ndarray) -> None:
        if value.dtype.hasobject:
            raise Indescribable("an array of objects")
        content = digest_of(value.tobytes()).hex()
        self._word("array", value.dtype.str, str(value.shape), content)

    def _record_names(self, names: RecordNames) -> None:
        """Names that know a class, which stands for itself alone in one program."""
        known = names in self._names
        number = self._names.setdefault(names, len(self._names))
        self._word(f"names {number}")
        if known:
            return
        self._word(str(names.kind), repr(names.title), repr(tuple(names)))
        if isinstance(names, ReferenceNames):
            self._word(repr(names.heap))
            self.add(names.record)
            self.add(names.primal)
            self.add(names.content)

    def _closure_names(self, names: ClosureNames) -> None:
        """Names that know a function, which stands for itself as well."""
        known = names in self._names
        number = self._names.setdefault(names, len(self._names))
        self._word(f"captures {number}")
        if not known:
            self._word(repr(names.code.title), repr(tuple(names)))

    def _list_names(self, names: ListNames) -> None:
        self._word("list", *map(str, names._key()))

    def _primitive(self, prim: Prim) -> None:
        if PRIMS.get(prim.name) is not prim:
            raise Indescribable(f"the primitive {prim.name}")
        self._word("primitive", prim.name)

    def _scalar(self, value: Any) -> None:
        self._word(f"{type(value).__name__} {value!r}")

    def _float(self, value: float) -> None:
        self._word("float", struct.pack("<d", value).hex())

    def _enumeration(self, value: Enum) -> None:
        self._word(type(value).__qualname__, value.name)

    def _type(self, value: type) -> None:
        self._word("class", value.__module__, value.__qualname__)


def _writer(kind: type) -> Callable[[Description, Any], None]:
    """What writes instances of a class."""
    if is_dataclass(kind):
        return _node_writer(kind)
    for known, write in _FAMILIES:
        if issubclass(kind, known):
            return write
    raise Indescribable(f"a {kind.__qualname__}")


def _node_writer(kind: type) -> Callable[[Description, Any], None]:
    """Nodes are their class and fields; those that are not values are written once."""
    names = tuple(f.name for f in fields(kind))
    is_value = "__eq__" in vars(kind)

    def write(self: Description, value: Any) -> None:
        self._word(kind.__qualname__)
        if is_value or self._is_new(value):
            for name in names:
                self.add(getattr(value, name))

    return write


_FAMILIES: tuple[tuple[type, Callable[[Description, Any], None]], ...] = (
    (Enum, Description._enumeration),
    (np.ndarray, Description._array),
    (RecordNames, Description._record_names),
)

_WRITERS: dict[type, Callable[[Description, Any], None]] = {
    Var: Description._variable,
    Prim: Description._primitive,
    Span: Description._place,
    ListNames: Description._list_names,
    ClosureNames: Description._closure_names,
    tuple: Description._sequence,
    frozenset: Description._set,
    bool: Description._scalar,
    int: Description._scalar,
    str: Description._scalar,
    bytes: Description._scalar,
    type(None): Description._scalar,
    float: Description._float,
    type: Description._type,
}
