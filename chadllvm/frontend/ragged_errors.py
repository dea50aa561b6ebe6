"""What can be wrong with lists of arrays."""

from __future__ import annotations

from chadllvm.codes import code, error
from chadllvm.diagnostic import Diagnostic, Span
from chadllvm.ir.types import Type
from chadllvm.ir.wording import said


@code("CL1601")
def list_index(span: Span) -> Diagnostic:
    """A list of arrays is indexed by one integer, or by a slice.

    In Python too `xs[i, j]` is an error for a list. Write `xs[i][j]`.

    Fails:

        def f(xs: list[cl.f64[:]]):
            return xs[0, 1]

    Works:

        def f(xs: list[cl.f64[:]]):
            return xs[0][1]
    """
    return error(
        "a list of arrays is indexed by one integer, or a slice",
        span,
        "neither of these",
        "write `xs[i][j]` for an element of one of its arrays",
    )


@code("CL1602")
def ragged_arithmetic(span: Span, ty: Type) -> Diagnostic:
    """Arithmetic is for numbers and arrays, not for lists of arrays.

    Write what is done to each array, or join them by `np.concatenate`.

    Fails:

        def f(xs: list[cl.f64[:]]):
            return 2.0 * xs

    Works:

        def f(xs: list[cl.f64[:]]):
            return [2.0 * x for x in xs]
    """
    return error(
        f"a {said(ty)} is neither a number nor an array",
        span,
        "its arrays differ in size",
        "write what is done to each, as in `[2.0 * x for x in xs]`",
    )


@code("CL1603")
def list_part_changed(span: Span) -> Diagnostic:
    """An array of a list is replaced, or changed; nothing else of a list is.

    Slices of a list, and lists in a list, are not assigned to.

    Fails:

        def f(xs: list[cl.f64[:]], a: cl.f64[:]):
            ys = [x * 1.0 for x in xs]
            ys[:1] = [a]
            return ys[0][0]

    Works:

        def f(xs: list[cl.f64[:]], a: cl.f64[:]):
            ys = [x * 1.0 for x in xs]
            ys[0] = a
            return ys[0][0]
    """
    return error(
        "this part of a list cannot be assigned to",
        span,
        "not one of its arrays",
        "assign to one array, as in `xs[i] = a`, or to its elements",
    )


@code("CL1604")
def wrong_item(span: Span, found: Type, expected: Type) -> Diagnostic:
    """What is put into a list of arrays is an array of as many dimensions.

    Fails:

        def f(xs: list[cl.f64[:]]):
            ys = [x * 1.0 for x in xs]
            ys.append(np.zeros((2, 2)))
            return len(ys)

    Works:

        def f(xs: list[cl.f64[:]]):
            ys = [x * 1.0 for x in xs]
            ys.append(np.zeros(2))
            return len(ys)
    """
    return error(
        f"{said(found)} does not belong into {said(expected)}",
        span,
        "this is of another type",
        "all arrays of a list have the same number of dimensions and type",
    )


@code("CL1605")
def grows_elsewhere(span: Span) -> Diagnostic:
    """A list in a list does not grow by itself.

    Its elements stand among those of the other lists. Make a list of its own.

    Fails:

        def f(groups: list[list[cl.f64[:]]], a: cl.f64[:]):
            first = groups[0]
            first.append(a)
            return len(first)

    Works:

        def f(groups: list[list[cl.f64[:]]], a: cl.f64[:]):
            first = list(groups[0])
            first.append(a)
            return len(first)
    """
    return error(
        "a list that is an element of another list is changed",
        span,
        "part of another list",
        "make a copy of it, as in `ys = list(xs)`",
    )


@code("CL1606")
def joined_across(span: Span) -> Diagnostic:
    """The arrays of a list are joined along their first axis.

    How many there are is known only when the program runs.

    Fails:

        def f(xs: list[cl.f64[:, :]]):
            return np.sum(np.concatenate(xs, axis=1))

    Works:

        def f(xs: list[cl.f64[:, :]]):
            return np.sum(np.concatenate([x.T for x in xs]).T)
    """
    return error(
        "the arrays of a list are joined along another axis than the first",
        span,
        "a list of arrays, each of its own size",
        "transpose each, and the result, as in `np.concatenate([x.T for x in xs]).T`",
    )
