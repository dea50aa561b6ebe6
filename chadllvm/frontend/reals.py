"""What a value's cotangent or tangent may be given as: its reals, in its containers.

A record of which some fields are integers cannot be made without them. So what stands
in the place of an integer is not looked at, if it is no real. The sizes of arrays are
those of what the cotangent or tangent belongs to, which is seen when the program runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from chadllvm.frontend.arithmetic import convert, join
from chadllvm.frontend.delayed import build_nest
from chadllvm.ir.build import Builder
from chadllvm.ir.record import ListNames
from chadllvm.ir.term import Apply, Operand, Proj, Tuple, Var
from chadllvm.ir.types import (
    NONE,
    Array,
    Box,
    Product,
    Scalar,
    Sum,
    Type,
    has_float,
)
from chadllvm.ops.index import Dim, Index


def fits(found: Type, wanted: Type) -> bool:
    """Whether a value of this type can be a cotangent or tangent of that type.

    What belongs to integers and booleans may be anything without reals.
    """
    if wanted == NONE:
        return not has_float(found)
    if isinstance(found, Product) and isinstance(wanted, Product):
        if found.names != wanted.names or len(found.fields) != len(wanted.fields):
            return False
        return all(map(fits, found.fields, wanted.fields))
    if isinstance(found, Array) and isinstance(wanted, Array):
        return found.rank == wanted.rank and fits(found.elem, wanted.elem)
    return join(found, wanted) == wanted


def as_reals(b: Builder, value: Operand, wanted: Type) -> Operand:
    """A value that fits, as a cotangent or tangent of this type."""
    if value.type == wanted:
        return value
    if wanted == NONE:
        return b.one(Tuple((), NONE.names))
    if isinstance(wanted, Product):
        parts = [
            as_reals(b, b.one(Proj(value, k)), field)
            for k, field in enumerate(wanted.fields)
        ]
        return b.one(Tuple(tuple(parts), wanted.names))
    if isinstance(wanted, Array):
        sizes = tuple(b.one(Apply(Dim(k), (value,))) for k in range(wanted.rank))
        return build_nest(b, sizes, partial(_element, value, wanted.elem))
    return convert(b, value, wanted)


def _element(
    array: Operand, wanted: Type, b: Builder, indices: Sequence[Operand]
) -> Operand:
    return as_reals(b, b.one(Apply(Index(), (array, *indices))), wanted)


def is_regular(ty: Type) -> bool:
    """Whether the sizes of all arrays in the reals of a type are known beside them."""
    match ty:
        case Product(_, ListNames()):
            return False
        case Product(fields):
            return all(is_regular(field) for field in fields if has_float(field))
        case Array(elem, _):
            return not _has_boxes(elem)
        case _:
            return isinstance(ty, Scalar)


def _has_boxes(ty: Type) -> bool:
    match ty:
        case Product(fields):
            return any(map(_has_boxes, fields))
        case _:
            return isinstance(ty, Array | Box | Sum)


def sizes_of(b: Builder, values: Sequence[Operand]) -> list[Operand]:
    """The sizes of the arrays of reals in values, in order."""
    found: list[Operand] = []
    for value in values:
        match value.type:
            case Product(fields):
                at = [k for k, field in enumerate(fields) if has_float(field)]
                found += sizes_of(b, [b.one(Proj(value, k)) for k in at])
            case Array(elem, rank) if has_float(elem):
                axes = range(rank)
                found += [b.one(Apply(Dim(axis), (value,))) for axis in axes]
    return found


def check_sizes(
    b: Builder, found: Sequence[Operand], wanted: Sequence[Operand]
) -> None:
    """Fail when the program runs unless these sizes are those."""
    for pair in zip(found, wanted, strict=True):
        b.prim("same", *pair)


def count_of_sizes(ty: Type) -> int:
    """How many sizes a value of this type has."""
    return len(sizes_of(Builder(), [Var("x", ty)]))


def sizes_type(types: Sequence[Type]) -> Type:
    sizes = sizes_of(Builder(), [Var("x", ty) for ty in types])
    return Product(tuple(size.type for size in sizes))


def check_like(b: Builder, value: Operand, primal: Operand) -> None:
    """Fail when the program runs if the arrays in two values differ in their sizes."""
    match value.type:
        case Product(fields) if isinstance(primal.type, Product):
            for k, part in enumerate(fields):
                if has_float(part):
                    parts = b.one(Proj(value, k)), b.one(Proj(primal, k))
                    check_like(b, *parts)
        case Array(_, rank):
            for axis in range(rank):
                sizes = [b.one(Apply(Dim(axis), (a,))) for a in (value, primal)]
                b.prim("same", *sizes)
        case _:
            return
