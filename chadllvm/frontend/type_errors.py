"""What can be wrong with operands, indices and tuples."""

from __future__ import annotations

from chadllvm.codes import code, error
from chadllvm.diagnostic import Diagnostic, Span
from chadllvm.ir.types import Type


@code("CL0501")
def elementwise(span: Span, what: str, ty: Type) -> Diagnostic:
    return error(
        "elementwise operation on an array",
        span,
        f"{what} takes numbers, found {ty}",
        "write a comprehension, as in `[x[i] + y[i] for i in range(len(x))]`",
    )


@code("CL0502")
def not_a_number(span: Span, what: str, ty: Type) -> Diagnostic:
    return error(
        "a number is needed",
        span,
        f"{what} takes numbers, found {ty}",
        "use the components of the tuple",
    )


@code("CL0503")
def not_a_condition(span: Span, ty: Type) -> Diagnostic:
    return error(
        "a condition is needed",
        span,
        f"{ty} is neither true nor false",
        "compare numbers, as in `x[0] > 0.0` or `len(x) > 0`",
    )


@code("CL0504")
def not_an_index(span: Span, ty: Type) -> Diagnostic:
    return error(
        "an index must be an integer",
        span,
        f"this is {ty}",
        "convert it with `int(...)`",
    )


@code("CL0505")
def not_indexable(span: Span, ty: Type) -> Diagnostic:
    return error(
        "not indexable",
        span,
        f"this is {ty}, which has no elements",
        "only arrays and tuples can be indexed",
    )


@code("CL0506")
def too_many_indices(span: Span, count: int, ty: Type) -> Diagnostic:
    return error(
        "too many indices",
        span,
        f"{count} indices into {ty}",
        "use at most one index per dimension",
    )


@code("CL0507")
def slice_index(span: Span) -> Diagnostic:
    return error(
        "slices are not supported",
        span,
        "",
        "write a comprehension, as in `[x[i] for i in range(1, n)]`",
    )


@code("CL0508")
def dynamic_tuple_index(span: Span) -> Diagnostic:
    return error(
        "a tuple's index must be a constant",
        span,
        "its value is not known when the program is compiled",
        "use an integer literal, or an array instead of the tuple",
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
        f"{ty} cannot be unpacked",
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


@code("CL0513")
def mixed_tuple(span: Span, ty: Type) -> Diagnostic:
    """A loop runs over the components of a tuple if they have one type.

    A name has one type in all steps of a loop; of numbers it is a float if one is.

    Fails:

        def f(x: cl.f64[:], y: float):
            total = 0.0
            for value in (x, y):
                total += value
            return total

    Works:

        def f(x: cl.f64[:], y: float):
            total = 0.0
            for value in (sum(x), y):
                total += value
            return total
    """
    return error(
        "a loop over components of different types",
        span,
        f"this is {ty}",
        "a name in a loop has one type: use each component by itself",
    )
