"""C arguments → the leaves that native code takes, each looked at before.

    const double *x, int64_t x_n, const model_Point *at
        →   x, x_n, at->x, at->y

An array is given by its address and a size for each dimension, whatever is in a struct
by the address of that. What does not fit ends the call, and the message names it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import assert_never

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
    Ragged,
    Rows,
)
from chadllvm.ir.record import ReferenceNames
from chadllvm.ir.types import BOOL, F32, F64, I64, Scalar

# What the columns of nodes hold.
_ELEMS = {"F64": F64, "F32": F32, "I64": I64, "BOOL": BOOL, "TAG": I64, "NODE": I64}


@dataclass(frozen=True)
class ArrayLeaf:
    """An array as C expressions: its data, and a size for each dimension."""

    elem: Scalar
    data: str
    sizes: tuple[str, ...]


@dataclass(frozen=True)
class ScalarLeaf:
    type: Scalar
    value: str


Leaf = ArrayLeaf | ScalarLeaf


@dataclass
class Arguments:
    """The parameters of a C function, and what is made of them.

    `title` is the function in messages.
    """

    types: Types
    classes: Classes
    title: str
    names: Names
    # Of arrays among the parameters there are the sizes alone, and nothing is read.
    sizes_only: bool = False
    # The parameters as they are declared.
    declared: list[str] = field(default_factory=list)
    # Statements that take them apart, and look at them.
    lines: list[str] = field(default_factory=list)
    leaves: list[Leaf] = field(default_factory=list)
    # Of each top level array its sizes.
    shapes: dict[str, ArrayLeaf] = field(default_factory=dict)
    # Statements that enter nodes, when there is memory for them.
    entering: list[str] = field(default_factory=list)
    # The parameters that are written to.
    updated: frozenset[str] = frozenset()
    # Of each parameter its leaves.
    of: dict[str, list[Leaf]] = field(default_factory=dict)

    def add(self, name: str, node: CNode | None) -> None:
        """A parameter."""
        first = len(self.leaves)
        self._add(name, node)
        self.of[name] = self.leaves[first:]

    def add_columns(self, of: ReferenceNames) -> None:
        """The columns of the nodes of a class, which stand behind all parameters."""
        node = CReference(of)
        first, count = self.classes.columns(node), self.classes.symbol(node)
        for k, part in enumerate(self.classes.parts(node), first):
            size = f"nodes.counts[{count}]"
            self.leaves.append(
                ArrayLeaf(_ELEMS[part.kind], f"nodes.columns[{k}]", (size,))
            )

    def _add(self, name: str, node: CNode | None) -> None:
        match node:
            case None:
                return
            case CScalar(ty):
                own = self.names.new(name)
                self.declared.append(f"{C_TYPES[ty]} {own}")
                self._scalar(ty, own)
            case CArray(elem, rank):
                own = self.names.new(name)
                sizes = self._sizes(own, rank)
                if not self.sizes_only:
                    const = "" if name in self.updated else "const "
                    self.declared.append(f"{const}{C_TYPES[elem]} *{own}")
                self.declared += [f"int64_t {size}" for size in sizes]
                data = "NULL" if self.sizes_only else own
                leaf = ArrayLeaf(elem, data, tuple(sizes))
                self._checked(leaf, name)
                self.shapes[name] = leaf
            case CStruct() | CUnion() | CReference() | CItems():
                own = self.names.new(name)
                if isinstance(node, CReference):
                    self.declared.append(f"{self.types.name(node)}{own}")
                    self._refuse(f"{own} == NULL", name, "is NULL")
                    self._take(node, own, name, "")
                    return
                self.declared.append(f"const {self.types.name(node)} *{own}")
                self._refuse(f"{own} == NULL", name, "is NULL")
                self._take(node, f"(*{own})", name, "")
            case _:
                assert_never(node)

    def _sizes(self, own: str, rank: int) -> list[str]:
        if rank == 1:
            return [self.names.new(f"{own}_n")]
        return [self.names.new(f"{own}_n{axis}") for axis in range(rank)]

    def _take(self, node: CNode, at: str, path: str, held: str) -> None:
        """What is at a place; `held` is the condition under which it is there."""
        match node:
            case CScalar(ty):
                self._scalar(ty, f"({held} ? {at} : 0)" if held else at)
            case CArray(elem, rank):
                self._array(elem, rank, at, path, held)
            case CStruct(_, fields, rule):
                first = len(self.leaves)
                for name, part in fields:
                    self._take(part, f"{at}.{name}", f"{path}.{name}", held)
                if rule is not None and not self.sizes_only:
                    self._rule(rule, fields, self.leaves[first:], path)
            case CUnion(_, members):
                self._union(members, at, path, held)
            case CReference():
                self._reference(node, at, path, held)
            case CItems():
                self._items(node, at, path, held)
            case _:
                assert_never(node)

    def _reference(self, node: CReference, at: str, path: str, held: str) -> None:
        """A node, which gets a number; 0 if it is not there."""
        own = self.names.new("node")
        there = f"!{held} || {at} != NULL" if held else f"{at} != NULL"
        self._refuse(f"!({there})", path, "is NULL")
        call = f"chad_lib_enter(&nodes, {self.classes.symbol(node)}, {at}, -1)"
        value = f"{held} ? {call} : 0" if held else call
        self.entering.append(f"const int64_t {own} = {value};")
        self.leaves.append(ScalarLeaf(I64, own))

    def _items(self, node: CItems, at: str, path: str, held: str) -> None:
        """A list of structs, which becomes columns."""
        self._array(None, 1, at, path, held)
        whole = self.leaves.pop()
        assert isinstance(whole, ArrayLeaf)
        columns, parts = self.names.new("columns"), self.classes.parts(node)
        call = f"&nodes, {self.classes.symbol(node)}, {whole.data}, {whole.sizes[0]}"
        self.entering += [
            f"void *{columns}[{len(parts)}] = {{NULL}};",
            f"chad_lib_enter_items({call}, {columns});",
        ]
        for k, part in enumerate(parts):
            data = f"{columns}[{k}]"
            self.leaves.append(ArrayLeaf(_ELEMS[part.kind], data, whole.sizes))

    def _scalar(self, ty: Scalar, value: str) -> None:
        """A number; what is true is 1."""
        self.leaves.append(ScalarLeaf(ty, f"({value} != 0)" if ty == BOOL else value))

    def _array(
        self, elem: Scalar | None, rank: int, at: str, path: str, held: str
    ) -> None:
        """An array of numbers, or, where `elem` is None, of structs."""
        own = self.names.new("array")
        if not self.sizes_only:
            chosen = f"{held} ? {at}.data : NULL" if held else f"{at}.data"
            c_type = C_TYPES[elem] if elem else "void"
            self.lines.append(f"const {c_type} *const {own} = {chosen};")
        sizes = []
        for axis in range(rank):
            size = self.names.new(f"{own}_n{axis}")
            value = f"{at}.shape[{axis}]"
            value = f"{held} ? {value} : 0" if held else value
            self.lines.append(f"const int64_t {size} = {value};")
            sizes.append(size)
        data = "NULL" if self.sizes_only else own
        size = f"sizeof({C_TYPES[elem]})" if elem else "sizeof(void *)"
        self._checked(ArrayLeaf(elem or I64, data, tuple(sizes)), path, size)

    def _checked(self, leaf: ArrayLeaf, path: str, size: str = "") -> None:
        shape = f"{len(leaf.sizes)}, (const int64_t[]){{{', '.join(leaf.sizes)}}}"
        self._wrong(f"chad_lib_shape({shape})", path)
        if not self.sizes_only:
            size = size or f"sizeof({C_TYPES[leaf.elem]})"
            count = " * ".join(leaf.sizes)
            self._wrong(f"chad_lib_data({leaf.data}, {size}, {count})", path)
        self.leaves.append(leaf)

    def _union(
        self,
        members: Sequence[tuple[str, CNode | None]],
        at: str,
        path: str,
        held: str,
    ) -> None:
        tag = self.names.new("tag")
        value = f"{held} ? {at}.tag : 0" if held else f"{at}.tag"
        self.lines.append(f"const int64_t {tag} = {value};")
        wrong = f"{tag} < 0 || {tag} >= {len(members)}"
        self._refuse(wrong, f"{path}.tag", "is none of the members")
        self.leaves.append(ScalarLeaf(I64, tag))
        outer = f"{held} && " if held else ""
        for k, (name, member) in enumerate(members):
            if member is not None:
                inner = f"({outer}{tag} == {k})"
                self._take(member, f"{at}.as.{name}", f"{path}.as.{name}", inner)

    # ---- rules

    def _rule(
        self,
        rule: Ragged | Rows,
        fields: Sequence[tuple[str, CNode]],
        leaves: Sequence[Leaf],
        path: str,
    ) -> None:
        by_name = dict(zip((name for name, _ in fields), leaves, strict=True))
        arrays = {n: leaf for n, leaf in by_name.items() if isinstance(leaf, ArrayLeaf)}
        match rule:
            case Ragged():
                self._ragged(rule, arrays, path)
                if "first" in by_name:
                    self._window(rule, by_name, path)
            case Rows():
                self._rows(rule, list(arrays.items()), path)
            case _:
                assert_never(rule)

    def _ragged(self, rule: Ragged, parts: dict[str, ArrayLeaf], path: str) -> None:
        end = parts["items"].sizes[0]
        for level in range(1, rule.depth + 1):
            starts, name = parts[f"starts_{level}"], f"{path}.starts_{level}"
            count = starts.sizes[0]
            self._wrong(f"chad_lib_starts({starts.data}, {count}, {end})", name)
            end = f"{count} - 1"
        if rule.rank > 1:
            sizes, starts = parts["sizes"], parts["starts_1"]
            rows, columns = sizes.sizes
            fits = f"{rows} == {starts.sizes[0]} - 1 && {columns} == {rule.rank}"
            self._refuse(f"!({fits})", f"{path}.sizes", "is not a row for each array")
            call = f"{sizes.data}, {rule.rank}, {starts.data}, {rows}"
            self._wrong(f"chad_lib_sizes({call})", f"{path}.sizes")

    def _window(self, rule: Ragged, parts: dict[str, Leaf], path: str) -> None:
        first, count = parts["first"], parts["count"]
        starts = parts[f"starts_{rule.depth}"]
        assert isinstance(first, ScalarLeaf) and isinstance(count, ScalarLeaf)
        assert isinstance(starts, ArrayLeaf)
        a, n, most = first.value, count.value, f"{starts.sizes[0]} - 1"
        wrong = f"{a} < 0 || {n} < 0 || {n} > {most} || {a} > {most} - {n}"
        self._refuse(wrong, f"{path}.first", "begins a part that is not in the list")

    def _rows(
        self, rule: Rows, columns: Sequence[tuple[str, ArrayLeaf]], path: str
    ) -> None:
        shape = self._shape_of(rule, columns)
        count = " * ".join(shape)
        skip = 0
        for k, (name, leaf) in enumerate(columns):
            members, piece = rule.columns[k]
            place = f"{path}.{name}"
            if piece:
                skip = 1 + piece
                self._pieces(columns[k : k + skip + 1], count, place, shape)
                continue
            unlike = [f"{a} != {b}" for a, b in zip(leaf.sizes, shape, strict=False)]
            if not skip and leaf.sizes[: rule.rank] != tuple(shape):
                self._refuse(" || ".join(unlike), place, "is longer or shorter")
            skip = max(0, skip - 1)
            if members:
                call = f"chad_lib_tags({leaf.data}, {count}, {members})"
                self._wrong(call, place)

    def _shape_of(
        self, rule: Rows, columns: Sequence[tuple[str, ArrayLeaf]]
    ) -> tuple[str, ...]:
        """The sizes that all columns have: those of the first that has them."""
        for (_, leaf), (_, piece) in zip(columns, rule.columns, strict=True):
            if not piece:
                return leaf.sizes[: rule.rank]
        raise AssertionError("a piece has columns of its places")

    def _pieces(
        self,
        columns: Sequence[tuple[str, ArrayLeaf]],
        count: str,
        place: str,
        shape: tuple[str, ...],
    ) -> None:
        (_, numbers), (_, start), *sizes = columns
        for name, leaf in columns[1:]:
            unlike = [f"{a} != {b}" for a, b in zip(leaf.sizes, shape, strict=True)]
            if leaf.sizes != shape:
                column = f"{place.rpartition('.')[0]}.{name}"
                self._refuse(" || ".join(unlike), column, "is longer or shorter")
        listed = ", ".join(leaf.data for _, leaf in sizes)
        addresses = f"(const int64_t *const[]){{{listed}}}"
        call = f"{numbers.sizes[0]}, {count}, {len(sizes)}, {start.data}, {addresses}"
        self._wrong(f"chad_lib_pieces({call})", place)

    # ---- refusals

    def _refuse(self, condition: str, name: str, what: str) -> None:
        self.lines += [f"if ({condition}) {{", *self._leave(name, c_string(what)), "}"]

    def _wrong(self, call: str, name: str) -> None:
        self.lines += [
            f"wrong = {call};",
            "if (wrong != NULL) {",
            *self._leave(name, "wrong"),
            "}",
        ]

    def _leave(self, name: str, what: str) -> list[str]:
        title, place = c_string(self.title), c_string(name)
        return [f"  return chad_lib_invalid(error, {title}, {place}, {what});"]
