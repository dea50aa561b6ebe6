"""What can be wrong with lists of arrays."""

from __future__ import annotations

from chadllvm.ir.types import Type
from chadllvm.ir.wording import said
from chadllvm.support.codes import code, error
from chadllvm.support.diagnostic import Diagnostic, Span


@code("CL1601")
def list_index(span: Span) -> Diagnostic:
    return error(
        "a list of arrays is indexed by one integer, or a slice",
        span,
        "neither of these",
        "write `xs[i][j]` for an element of one of its arrays",
    )


@code("CL1602")
def ragged_arithmetic(span: Span, ty: Type) -> Diagnostic:
    return error(
        f"a {said(ty)} is neither a number nor an array",
        span,
        "its arrays differ in size",
        "write what is done to each, as in `[2.0 * x for x in xs]`",
    )


@code("CL1603")
def list_part_changed(span: Span) -> Diagnostic:
    return error(
        "this part of a list cannot be assigned to",
        span,
        "not one of its arrays",
        "assign to one array, as in `xs[i] = a`, or to its elements",
    )


@code("CL1604")
def wrong_item(span: Span, found: Type, expected: Type) -> Diagnostic:
    return error(
        f"{said(found)} does not belong into {said(expected)}",
        span,
        "this is of another type",
        "all arrays of a list have the same number of dimensions and type",
    )


@code("CL1605")
def grows_elsewhere(span: Span) -> Diagnostic:
    return error(
        "a list that is an element of another list is changed",
        span,
        "part of another list",
        "make a copy of it, as in `ys = list(xs)`",
    )


@code("CL1606")
def joined_across(span: Span) -> Diagnostic:
    return error(
        "the arrays of a list are joined along another axis than the first",
        span,
        "a list of arrays, each of its own size",
        "transpose each, and the result, as in `np.concatenate([x.T for x in xs]).T`",
    )
