"""The words that native code gives → C results.

    double *value, double *x_gradient, model_Point *at

A number is written to its address. The gradient by an array is copied to where there is
room of its shape. Any other array stays in the memory that the call was given, and its
address and shape are written to a struct.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from chadllvm.backend.aot.arguments import ArrayLeaf, Leaf, ScalarLeaf
from chadllvm.backend.aot.declare import C_TYPES, Types
from chadllvm.backend.aot.names import Names, c_string
from chadllvm.backend.aot.nodes import Classes
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
from chadllvm.ir.types import BOOL, F32, F64, Scalar, is_float


@dataclass
class Returned:
    """The results of a C function."""

    types: Types
    classes: Classes
    title: str
    names: Names
    declared: list[str] = field(default_factory=list)
    # What is looked at in front of the call, and what is done behind it.
    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    # What makes structs of nodes, in between: the nodes, and lists of what is in them.
    columns: list[str] = field(default_factory=list)
    making: list[str] = field(default_factory=list)
    words: int = 0
    # Whether there are arrays that need a memory to stay in.
    needs_memory: bool = False

    def add(self, name: str, node: CNode | None, room: ArrayLeaf | None = None) -> None:
        """A result; `room`: it is an array of this one's shape."""
        match node:
            case None:
                return
            case CScalar(ty):
                own = self._pointer(f"{C_TYPES[ty]} *", name)
                self._there(own, name)
                self._take(node, f"*{own}", "")
            case CArray(elem) if room is not None:
                own = self._pointer(f"{C_TYPES[elem]} *", name)
                count = " * ".join(room.sizes)
                self._there(own, name, f" && {count} > 0")
                size = f"sizeof({C_TYPES[elem]})"
                source = f"words[{self._word()}].p"
                self.after.append(f"chad_lib_copy({own}, {source}, {count}, {size});")
                self.words += len(room.sizes)
            case _:
                self._take(node, f"(*{self._place(name, node)})", "")

    def add_in_place(self, room: ArrayLeaf) -> None:
        """What an argument is updated to, which is given as a result."""
        count, source = " * ".join(room.sizes), f"words[{self._word()}].p"
        size = f"sizeof({C_TYPES[room.elem]})"
        self.after.append(f"chad_lib_copy({room.data}, {source}, {count}, {size});")
        self.words += len(room.sizes)

    def add_like(self, name: str, node: CNode, leaves: Sequence[Leaf]) -> None:
        """A gradient of the same type as its argument, which has these leaves."""
        self._take_like(node, f"(*{self._place(name, node)})", "", iter(leaves))

    def add_columns(self, of: ReferenceNames, made: str, *, reals: bool) -> None:
        """The columns of the nodes of a class, or those of real numbers only."""
        node = CReference(of)
        first = self.classes.columns(node)
        for k, part in enumerate(self.classes.parts(node), first):
            if part.is_real or not reals:
                source = self._word()
                self.columns.append(f"{made}.columns[{k}] = words[{source}].p;")
                count = f"{made}.counts[{self.classes.symbol(node)}]"
                self.columns.append(f"{count} = words[{self._word()}].i;")

    def _place(self, name: str, node: CNode) -> str:
        c_type = self.types.name(node)
        star = "*" if c_type.endswith("*") else " *"
        own = self._pointer(f"{c_type}{star}", name)
        self._there(own, name)
        return own

    def _pointer(self, c_type: str, name: str) -> str:
        own = self.names.new(name)
        self.declared.append(f"{c_type}{own}")
        return own

    def _there(self, own: str, name: str, more: str = "") -> None:
        place = f"{c_string(self.title)}, {c_string(name)}"
        self.before += [
            f"if ({own} == NULL{more}) {{",
            f'  return chad_lib_invalid(error, {place}, "is NULL");',
            "}",
        ]

    def _word(self) -> int:
        self.words += 1
        return self.words - 1

    def _take(self, node: CNode, at: str, indent: str) -> None:
        match node:
            case CScalar(ty):
                value = number(ty, f"words[{self._word()}]")
                self.after.append(f"{indent}{at} = {value};")
            case CArray(_, rank):
                self.needs_memory = True
                source = f"words[{self._word()}].p"
                self.after.append(f"{indent}{at}.data = {source};")
                for axis in range(rank):
                    size = f"words[{self._word()}].i"
                    self.after.append(f"{indent}{at}.shape[{axis}] = {size};")
            case CStruct(_, fields):
                for name, part in fields:
                    self._take(part, f"{at}.{name}", indent)
            case CUnion(_, members):
                tag = f"words[{self._word()}].i"
                self.after.append(f"{indent}{at}.tag = {tag};")
                for k, (name, member) in enumerate(members):
                    if member is not None:
                        self.after.append(f"{indent}if ({tag} == {k}) {{")
                        self._take(member, f"{at}.as.{name}", indent + "  ")
                        self.after.append(f"{indent}}}")
            case CReference():
                self._node(node, at, "values", f"words[{self._word()}].i", indent)
            case CItems():
                parts = [[self._word(), self._word()] for _ in self.classes.parts(node)]
                columns = [f"words[{data}].p" for data, _ in parts]
                count = f"words[{parts[0][1]}].i"
                self._items(node, at, "values", columns, count, indent)
            case _:
                assert_never(node)

    def _take_like(
        self, node: CNode, at: str, indent: str, leaves: Iterator[Leaf]
    ) -> None:
        """The real numbers are those that are returned, the rest is the argument's."""
        match node:
            case CScalar(ty) if is_float(ty):
                next(leaves)
                self._take(node, at, indent)
            case CScalar(ty):
                leaf = next(leaves)
                assert isinstance(leaf, ScalarLeaf)
                self.after.append(f"{indent}{at} = {leaf.value};")
            case CArray(elem) if is_float(elem):
                next(leaves)
                self._take(node, at, indent)
            case CArray(elem):
                leaf = next(leaves)
                assert isinstance(leaf, ArrayLeaf)
                data = f"({C_TYPES[elem]} *)(uintptr_t){leaf.data}"
                self.after.append(f"{indent}{at}.data = {data};")
                for axis, size in enumerate(leaf.sizes):
                    self.after.append(f"{indent}{at}.shape[{axis}] = {size};")
            case CStruct(_, fields):
                for name, part in fields:
                    self._take_like(part, f"{at}.{name}", indent, leaves)
            case CUnion(_, members):
                tag = next(leaves)
                assert isinstance(tag, ScalarLeaf)
                self.after.append(f"{indent}{at}.tag = {tag.value};")
                for k, (name, member) in enumerate(members):
                    if member is not None:
                        self.after.append(f"{indent}if ({tag.value} == {k}) {{")
                        inner = f"{at}.as.{name}"
                        self._take_like(member, inner, indent + "  ", leaves)
                        self.after.append(f"{indent}}}")
            case CReference():
                leaf = next(leaves)
                assert isinstance(leaf, ScalarLeaf)
                self._node(node, at, "gradients", leaf.value, indent)
            case CItems():
                columns, count = [], "0"
                for held in self.classes.parts(node):
                    leaf = next(leaves)
                    assert isinstance(leaf, ArrayLeaf)
                    data, count = leaf.data, leaf.sizes[0]
                    if held.is_real:
                        data = f"words[{self._word()}].p"
                        self._word()
                    columns.append(data)
                self._items(node, at, "gradients", columns, count, indent)
            case _:
                assert_never(node)

    def _node(
        self, node: CReference, at: str, made: str, number: str, indent: str
    ) -> None:
        self.needs_memory = True
        call = f"chad_lib_node(&{made}, {self.classes.symbol(node)}, {number})"
        self.after.append(f"{indent}{at} = {call};")

    def _items(
        self,
        node: CItems,
        at: str,
        made: str,
        columns: Sequence[str],
        count: str,
        indent: str,
    ) -> None:
        self.needs_memory = True
        own, rows = self.names.new("items"), self.names.new("columns")
        listed = ", ".join(columns)
        args = f"&{made}, state, {self.classes.symbol(node)}, {rows}, {count}, &{own}"
        self.making += [
            f"void *{own} = NULL;",
            f"const void *const {rows}[] = {{{listed}}};",
            "if (status == CHAD_OK) {",
            f"  status = chad_lib_make_items({args});",
            "}",
        ]
        self.after.append(f"{indent}{at}.data = {own};")
        self.after.append(f"{indent}{at}.shape[0] = {count};")


def number(ty: Scalar, word: str) -> str:
    """A number out of a word."""
    if ty == F32:
        return f"(float){word}.f"
    if ty == F64:
        return f"{word}.f"
    return f"(uint8_t)({word}.i != 0)" if ty == BOOL else f"{word}.i"
