"""Types as C has them.

    float, int, bool       double, int64_t, uint8_t
    f64[:, :]              struct { double *data; int64_t shape[2]; }
    a record or a tuple    a struct of its fields
    A | B                  struct { int64_t tag; union { A a; B b; } as; }
    list[A]                a struct with an array for each number in A
    list[f64[:]]           a struct: all items in one array, and where each begins
    a recursive class      the address of a struct

The numbers and arrays in a tree stand in the order of `leaf_types`, which is the one
that native code takes and gives them in. What holds nothing has no field.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import assert_never

from chadllvm.backend.aot.names import Names
from chadllvm.backend.results import (
    Arrays,
    Choice,
    Group,
    Many,
    Result,
    leaf_types,
    pieces,
)
from chadllvm.ir.record import ListNames, RecordNames, ReferenceNames
from chadllvm.ir.types import (
    I64,
    Acc,
    Array,
    Box,
    Fun,
    Product,
    Scalar,
    Sum,
    holds_reference,
)
from chadllvm.support.diagnostic import InternalError


@dataclass(frozen=True)
class CScalar:
    type: Scalar


@dataclass(frozen=True)
class CArray:
    elem: Scalar
    rank: int


@dataclass(frozen=True)
class Ragged:
    """The fields are the parts of a list of arrays."""

    depth: int
    rank: int


@dataclass(frozen=True)
class Rows:
    """The fields are arrays which begin with the same `rank` dimensions.

    `columns` has for each column the number of members if it holds tags, else 0, and
    the rank of the pieces if it holds their numbers, else 0: where they begin, and
    their sizes, are the columns behind.
    """

    rank: int
    columns: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class CStruct:
    title: str
    fields: tuple[tuple[str, CNode], ...]
    rule: Ragged | Rows | None = None


@dataclass(frozen=True)
class CUnion:
    title: str
    members: tuple[tuple[str, CNode | None], ...]


@dataclass(frozen=True)
class CReference:
    """The address of a struct of a class that contains itself."""

    of: ReferenceNames

    @property
    def title(self) -> str:
        """The name of the class; a gradient with fewer fields has another one."""
        return self.of.title + ("" if self.of.primal is None else "_gradient")

    @property
    def content(self) -> CStruct:
        """What is in the struct."""
        found = tree(self.of.content)
        assert isinstance(found, CStruct)
        return CStruct(self.title, found.fields)


@dataclass(frozen=True)
class CItems:
    """A list of what holds references, as it is."""

    elem: CNode


CNode = CScalar | CArray | CStruct | CUnion | CReference | CItems


def tree(ty: Result, like: Result = None) -> CNode | None:
    """The tree of a type; None if there is nothing in it.

    A gradient has the names of what it is the gradient by, which is `like`, and is of
    the same C type where it has all of its fields.
    """
    match ty:
        case None:
            return None
        case Scalar():
            return CScalar(ty)
        case Array(Scalar() as elem, rank):
            return CArray(elem, rank)
        case Product(_, ListNames() as names) | Arrays(
            Product(_, ListNames() as names)
        ):
            return _ragged(ty, names)
        case Arrays(inner):
            return tree(inner)
        case Product(_, ReferenceNames() as of):
            return CReference(of)
        case Array(elem) if holds_reference(elem):
            inside = tree(elem)
            assert inside is not None
            return CItems(inside)
        case Product(parts, names) | Group(parts, names):
            return _struct(parts, names, like)
        case Array(elem, rank) | Many(elem, rank):
            return _rows(elem, rank, like.elem if isinstance(like, Array) else None)
        case Sum(payloads=parts) | Choice(parts):
            return _union(ty, parts, like)
        case Box() | Fun() | Acc():
            raise InternalError(f"native code has no {ty}")
        case _:
            assert_never(ty)


def _struct(
    parts: Sequence[Result], names: Sequence[str], like: Result
) -> CStruct | None:
    """A record or a tuple; a gradient without some of its fields has another name."""
    title = names.title if isinstance(names, RecordNames) else ""
    if title in ("", "row", "dict"):
        title = "record" if names else "tuple"
    held = like.fields if isinstance(like, Product) else [None] * len(parts)
    given = Names()
    fields = []
    for k, (part, whole) in enumerate(zip(parts, held, strict=True)):
        field, name = tree(part, whole), given.new(names[k] if names else f"item{k}")
        if field is not None:
            fields.append((name, field))
    made = CStruct(title, tuple(fields)) if fields else None
    if made is None or like is None or made == tree(like):
        return made
    return CStruct(f"{title}_gradient", made.fields)


def _ragged(ty: Result, names: ListNames) -> CStruct:
    fields: list[tuple[str, CNode]] = []
    for name, leaf in zip(names, leaf_types(ty), strict=True):
        node = CScalar(leaf) if isinstance(leaf, Scalar) else _array(leaf)
        fields.append((name, node))
    items = fields[0][1]
    assert isinstance(items, CArray)
    title = f"list_{items.elem}_{names.depth}_{names.rank}"
    if names.is_part:
        title += "_part"
    return CStruct(title, tuple(fields), Ragged(names.depth, names.rank))


def _array(ty: Array) -> CArray:
    assert isinstance(ty.elem, Scalar)
    return CArray(ty.elem, ty.rank)


def _union(ty: Result, parts: Sequence[Result], like: Result) -> CUnion:
    """A union; a gradient has the members of what it is by, even empty ones."""
    of = like if isinstance(like, Sum) else ty
    given, members = Names(), []
    held = of.payloads if isinstance(like, Sum) and isinstance(of, Sum) else None
    for k, part in enumerate(parts):
        found = tree(part, held[k] if held else None)
        title = of.constructors[k][0] if isinstance(of, Sum) else f"member{k}"
        members.append((given.new(title), found))
    title = "_or_".join(name for name, _ in members)
    made = CUnion(title, tuple(members))
    if like is None or made == tree(like):
        return made
    return CUnion(f"{title}_gradient", made.members)


def _rows(elem: Result, rank: int, like: Result) -> CStruct:
    """A list of records: its columns are named by the way to them."""
    node = tree(elem, like)
    assert node is not None
    given, fields = Names(), []
    kinds: list[tuple[int, int]] = []
    leaves = zip(_ways(node), leaf_types(elem), pieces(elem), strict=True)
    for (way, tags), leaf, is_piece in leaves:
        if not is_piece:
            inner = leaf.rank if isinstance(leaf, Array) else 0
            of = leaf.elem if isinstance(leaf, Array) else leaf
            assert isinstance(of, Scalar)
            fields.append((given.new(way), CArray(of, inner + rank)))
            kinds.append((tags, 0))
            continue
        assert isinstance(leaf, Array) and isinstance(leaf.elem, Scalar)
        fields.append((given.new(way), CArray(leaf.elem, 1)))
        kinds.append((0, leaf.rank))
        for suffix in ("start", *(f"size{axis}" for axis in range(leaf.rank))):
            fields.append((given.new(f"{way}_{suffix}"), CArray(I64, rank)))
            kinds.append((0, 0))
    title = getattr(node, "title", "") or "number"
    title += "_list" if rank == 1 else f"_list_{rank}"
    return CStruct(title, tuple(fields), Rows(rank, tuple(kinds)))


def _ways(node: CNode, way: str = "") -> Iterator[tuple[str, int]]:
    """The way to each leaf; with it, for a tag, the number of members."""
    match node:
        case CScalar() | CArray():
            yield way or "items", 0
        case CStruct(fields=fields):
            for name, field in fields:
                yield from _ways(field, f"{way}_{name}" if way else name)
        case CUnion(members=members):
            yield f"{way}_tag" if way else "tag", len(members)
            for name, member in members:
                if member is not None:
                    yield from _ways(member, f"{way}_{name}" if way else name)
        case CReference() | CItems():
            raise AssertionError("recursive data has no columns in a list of records")
        case _:
            assert_never(node)
