"""What can be wrong with operands, indices and tuples."""

from __future__ import annotations

from chadllvm.ir.types import Type
from chadllvm.ir.union import is_none, is_union
from chadllvm.ir.wording import said
from chadllvm.support.codes import code, error
from chadllvm.support.diagnostic import Diagnostic, Span


@code("CL0501")
def elementwise(span: Span, what: str, ty: Type) -> Diagnostic:
    return error(
        "an array among numbers",
        span,
        f"{what} takes numbers, found {said(ty)}",
        "use `np.maximum` or `np.minimum`, which compare arrays element by element",
    )


@code("CL0502")
def not_a_number(span: Span, what: str, ty: Type) -> Diagnostic:
    help = "use the components of the tuple"
    if is_union(ty) or is_none(ty):
        help = "ask first whether it is one, by `is None`, `isinstance` or `match`"
    return error(
        "a number is needed",
        span,
        f"{what} takes numbers, found {said(ty)}",
        help,
    )


@code("CL0503")
def not_a_condition(span: Span, ty: Type) -> Diagnostic:
    help = "compare numbers, as in `x[0] > 0.0` or `len(x) > 0`"
    if is_union(ty):
        help = "ask what it is, as in `x is not None`"
    return error(
        "a condition is needed",
        span,
        f"{said(ty)} is neither true nor false",
        help,
    )


@code("CL0504")
def not_an_index(span: Span, ty: Type) -> Diagnostic:
    return error(
        "an index, a size or the end of a range must be an integer",
        span,
        f"this is {said(ty)}",
        "convert it with `int(...)`; steps of fractions are made by `np.linspace`",
    )


@code("CL0505")
def not_indexable(span: Span, ty: Type) -> Diagnostic:
    return error(
        "not indexable",
        span,
        f"this is {said(ty)}, which has no elements",
        "only arrays and tuples can be indexed",
    )


@code("CL0506")
def too_many_indices(span: Span, count: int, ty: Type) -> Diagnostic:
    return error(
        "too many indices",
        span,
        f"{count} indices into {said(ty)}",
        "use at most one index per dimension",
    )


@code("CL0507")
def tuple_slice(span: Span) -> Diagnostic:
    return error(
        "the bounds of a tuple's slice must be constants",
        span,
        "",
        "write them as literals, or use an array",
    )


@code("CL0508")
def dynamic_tuple_index(span: Span, ty: Type) -> Diagnostic:
    return error(
        "the index of a tuple with components of different types must be a constant",
        span,
        f"this is an index of {said(ty)}",
        "use an integer literal: it says which type the component has",
    )


@code("CL0509")
def tuple_index_range(span: Span, index: int, size: int) -> Diagnostic:
    return error(
        "tuple index out of range",
        span,
        f"index {index} into a tuple of {size}",
        f"use an index from {-size} to {size - 1}" if size else "it has no components",
    )


@code("CL0510")
def not_unpackable(span: Span, ty: Type) -> Diagnostic:
    return error(
        "not a tuple",
        span,
        f"{said(ty)} cannot be unpacked",
        "only tuples and arrays can",
    )


@code("CL0511")
def wrong_unpacking(span: Span, names: int, size: int) -> Diagnostic:
    return error(
        "wrong number of names",
        span,
        f"a tuple of {size} is unpacked into {names}",
        f"write {size} names",
    )


@code("CL0514")
def mixed_widths(span: Span) -> Diagnostic:
    return error(
        "f32 and f64 meet",
        span,
        "one operand is an f32, another one an f64",
        "convert one of them: `np.float32(x)` or `np.float64(x)`, of an array "
        "`x.astype(np.float32)`",
    )


@code("CL0513")
def mixed_tuple(span: Span, ty: Type) -> Diagnostic:
    return error(
        "a loop over components of different types",
        span,
        f"this is {said(ty)}",
        "a name in a loop has one type: use each component by itself",
    )


@code("CL0515")
def open_tuple(span: Span) -> Diagnostic:
    return error(
        "how many components a tuple has is not known, or they are very many",
        span,
        "a tuple of this would have each of them in its type",
        "make a list of it: `list(...)`",
    )
