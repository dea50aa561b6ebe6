"""Recursive data in C: tables of what is in each struct, for `export/nodes.c`.

    struct Cons { double head; Cons_or_None tail; }

        → F64 at head · TAG at tail.tag · NODE at tail.as.Cons, if that tag is 0

The parts of a struct are in the order of the columns that native code takes them in.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from chadllvm.backend.aot.declare import Types
from chadllvm.backend.aot.names import c_string
from chadllvm.backend.aot.tree import (
    CArray,
    CItems,
    CNode,
    CReference,
    CScalar,
    CStruct,
    CUnion,
)
from chadllvm.ir.record import ReferenceNames
from chadllvm.ir.types import BOOL, F32, F64, I64
from chadllvm.support.diagnostic import InternalError

_KINDS = {F64: "F64", F32: "F32", I64: "I64", BOOL: "BOOL"}


@dataclass(frozen=True)
class Part:
    """A number, a tag or an address in a struct; `at` is the way to it.

    It is there if the part `guard` is the tag `member`; `of` is what `chad_lib_part`
    says.
    """

    at: str
    kind: str
    guard: int
    member: int
    of: str

    @property
    def is_real(self) -> bool:
        """Whether it is a real number."""
        return self.kind in ("F64", "F32")


class Classes:
    """The structs of a library that its nodes, and the items of its lists, are."""

    def __init__(self, types: Types) -> None:
        self.types = types
        self._known: dict[CNode, int] = {}

    def number(self, node: CNode) -> int:
        """The number of a struct, with those that it refers to."""
        if node not in self._known:
            self._known[node] = len(self._known)
            for part in _references(_content(node)):
                self.number(part)
        return self._known[node]

    def symbol(self, node: CNode) -> str:
        """The same as C calls it."""
        return f"CHAD_CLASS_{self.number(node)}"

    def columns(self, node: CNode) -> int:
        """The first column of a class."""
        before = [*self._known][: self.number(node)]
        return sum(len(self.parts(other)) for other in before)

    def parts(self, node: CNode) -> list[Part]:
        """What is in a struct."""
        found: list[Part] = []
        self._enter(_content(node), "", -1, 0, found)
        return found

    def _enter(
        self, node: CNode, at: str, guard: int, member: int, found: list[Part]
    ) -> None:
        match node:
            case CScalar(ty):
                found.append(Part(at, _KINDS[ty], guard, member, "0"))
            case CStruct(_, fields):
                for name, part in fields:
                    inner = f"{at}.{name}" if at else name
                    self._enter(part, inner, guard, member, found)
            case CUnion(_, members):
                own = len(found)
                at = f"{at}." if at else ""
                count = str(len(members))
                found.append(Part(f"{at}tag", "TAG", guard, member, count))
                for k, (name, held) in enumerate(members):
                    if held is not None:
                        self._enter(held, f"{at}as.{name}", own, k, found)
            case CReference():
                found.append(Part(at, "NODE", guard, member, self.symbol(node)))
            case CArray() | CItems():
                raise InternalError("an array in a node")
            case _:
                assert_never(node)

    # ---- C

    def sizes(self) -> str:
        """What `nodes.c` asks for in front of it."""
        total = sum(len(self.parts(node)) for node in [*self._known])
        names = [f"  CHAD_CLASS_{k} = {k}," for k in range(len(self._known))]
        sizes = (
            f"  CHAD_LIB_CLASSES = {len(self._known)},\n  CHAD_LIB_COLUMNS = {total}"
        )
        return "\n".join(["enum {", *names, sizes, "};", ""])

    def tables(self) -> str:
        """The tables, behind it."""
        nodes, texts, rows = [*self._known], [], []
        for k, node in enumerate(nodes):
            c_type, parts = self._struct(node), self.parts(node)
            listed = ",\n".join(f"  {_row(c_type, part)}" for part in parts)
            texts.append(f"static const chad_lib_part chad_parts_{k}[] = {{")
            texts += [f"{listed},", "};"]
            title = c_string(getattr(node, "title", "item"))
            rows.append(
                f"  {{{title}, sizeof({c_type}), {len(parts)}, {self.columns(node)}, "
                f"chad_parts_{k}}},"
            )
        head = "static const chad_lib_class chad_classes[] = {"
        return "\n".join([*texts, head, *rows, "};", ""])

    def _struct(self, node: CNode) -> str:
        if isinstance(node, CReference):
            return self.types.struct(node)
        return self.types.name(_content(node)).strip()

    def __len__(self) -> int:
        return len(self._known)


@dataclass(frozen=True)
class Heap:
    """The classes whose nodes a function takes, and those whose nodes it gives."""

    taken: tuple[ReferenceNames, ...]
    given: tuple[ReferenceNames, ...]
    # Those that gradients are given by.
    moved: tuple[ReferenceNames, ...]


def _content(node: CNode) -> CNode:
    """What there is one of: in a node, or in an item of a list."""
    match node:
        case CReference():
            return node.content
        case CItems(elem):
            return elem
        case _:
            return node


def _references(node: CNode) -> Iterator[CReference]:
    match node:
        case CReference():
            yield node
        case CStruct(_, fields):
            for _, part in fields:
                yield from _references(part)
        case CUnion(_, members):
            for _, member in members:
                if member is not None:
                    yield from _references(member)
        case CItems(elem):
            yield from _references(elem)
        case CScalar() | CArray():
            return
        case _:
            assert_never(node)


def _row(c_type: str, part: Part) -> str:
    at = f"offsetof({c_type}, {part.at})" if part.at else "0"
    return f"{{{at}, CHAD_PART_{part.kind}, {part.guard}, {part.member}, {part.of}}}"
