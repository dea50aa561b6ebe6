"""What can be wrong with the axes, shapes and numbers of dimensions of arrays."""

from __future__ import annotations

from collections.abc import Iterable

from chadllvm.codes import code, error
from chadllvm.diagnostic import Diagnostic, Span
from chadllvm.ir.types import Type
from chadllvm.ir.wording import said


@code("CL0702")
def axis_range(span: Span, axis: int, rank: int) -> Diagnostic:
    """An axis is the number of a dimension of the array.

    Axes count from 0, and from -1 backwards.

    Fails:

        def f(x: cl.f64[:]):
            return np.sum(x, axis=1)

    Works:

        def f(x: cl.f64[:, :]):
            return np.sum(x, axis=1)
    """
    plural = "" if rank == 1 else "s"
    return error(
        "axis out of range",
        span,
        f"axis {axis} of an array of {rank} dimension{plural}",
        f"use an axis from {-rank} to {rank - 1}",
    )


@code("CL0703")
def repeated_axis(span: Span) -> Diagnostic:
    """Each axis is named once.

    Negative axes count from the last, so -1 and 1 may be the same one.

    Fails:

        def f(x: cl.f64[:, :]):
            return np.sum(x, axis=(1, -1))

    Works:

        def f(x: cl.f64[:, :]):
            return np.sum(x, axis=(0, 1))
    """
    return error("an axis is named twice", span, "", "name each axis once")


@code("CL0712")
def separated_indices(span: Span) -> Diagnostic:
    """Arrays as indices stand side by side.

    With a slice between them NumPy moves their dimensions to the front, which few
    expect.

    Fails:

        def f(x: cl.f64[:, :, :], i: cl.i64[:]):
            return x[i, :, i]

    Works:

        def f(x: cl.f64[:, :, :], i: cl.i64[:]):
            return np.array([x[k, :, k] for k in i])
    """
    return error(
        "index arrays with a slice between them",
        span,
        "NumPy would move their dimensions to the front",
        "index in two steps, or write a comprehension",
    )


@code("CL0714")
def different_ranks(span: Span, name: str, ranks: Iterable[int]) -> Diagnostic:
    """Arrays that are joined have the same number of dimensions.

    Fails:

        def f(x: cl.f64[:], y: cl.f64[:, :]):
            return np.concatenate((x, y))

    Works:

        def f(x: cl.f64[:], y: cl.f64[:, :]):
            return np.concatenate((x[None, :], y))
    """
    return error(
        "arrays of different ranks",
        span,
        f"`{name}` takes arrays of one rank, found "
        + " and ".join(map(str, sorted(set(ranks)))),
        "add a dimension with `None` as in `x[None, :]`",
    )


@code("CL0715")
def wrong_rank(span: Span, name: str, expected: str, ty: Type) -> Diagnostic:
    """A function takes arrays of a certain number of dimensions.

    Fails:

        def f(x: cl.f64[:]):
            return np.trace(x)

    Works:

        def f(x: cl.f64[:, :]):
            return np.trace(x)
    """
    return error(
        "wrong number of dimensions",
        span,
        f"`{name}` takes {expected}, found {said(ty)}",
        "index, slice or reshape the array first",
    )


@code("CL0716")
def not_arrays(span: Span, name: str) -> Diagnostic:
    """What is joined are arrays, not numbers.

    They are written out, in a tuple or a list, or are the rows of an array, as a
    comprehension makes them, or the arrays of a list.

    Fails:

        def f(x: cl.f64[:]):
            return np.concatenate([2.0 * v for v in x])

    Works:

        def f(x: cl.f64[:]):
            return np.concatenate([v * x for v in x])
    """
    return error(
        "several arrays are needed",
        span,
        f"`{name}` joins arrays, and here are none",
        "write a tuple of arrays, as in `(x, y)`; `np.array([...])` is one of numbers",
    )


@code("CL0717")
def two_unknown_sizes(span: Span) -> Diagnostic:
    """One size of a new shape may be left open.

    It follows from the number of elements; two do not.

    Fails:

        def f(x: cl.f64[:]):
            return x.reshape(-1, -1)

    Works:

        def f(x: cl.f64[:]):
            return x.reshape(2, -1)
    """
    return error(
        "two sizes are left open",
        span,
        "only one of them can be -1",
        "say all sizes but one",
    )


@code("CL0718")
def not_squeezable(span: Span) -> Diagnostic:
    """`squeeze` needs to be told which dimensions go away.

    How many dimensions an array has is part of its type, and sizes are known at run
    time only.

    Fails:

        def f(x: cl.f64[:, :]):
            return np.squeeze(x)

    Works:

        def f(x: cl.f64[:, :]):
            return np.squeeze(x, axis=0)
    """
    return error(
        "which dimensions go away must be known",
        span,
        "the sizes are not known when the program is compiled",
        "name the axis, as in `np.squeeze(x, axis=0)`",
    )


@code("CL0719")
def no_first_state(span: Span, ty: Type) -> Diagnostic:
    """Running results of arrays need a first one.

    If there are no elements, nothing else says how large the arrays are.

    Fails:

        from itertools import accumulate

        def f(x: cl.f64[:, :]):
            return list(accumulate(x))

    Works:

        from itertools import accumulate

        def f(x: cl.f64[:, :], start: cl.f64[:]):
            return list(accumulate(x, lambda a, b: a + b, initial=start))
    """
    return error(
        "running results of arrays",
        span,
        f"nothing says how large the {said(ty)} are if there are none",
        "pass the first one, as in `accumulate(x, f, initial=start)`",
    )


@code("CL0720")
def second_ellipsis(span: Span) -> Diagnostic:
    """An index has at most one `...`.

    It stands for all dimensions that are not named; two could share them in several
    ways.

    Fails:

        def f(x: cl.f64[:, :, :]):
            return x[..., 0, ...]

    Works:

        def f(x: cl.f64[:, :, :]):
            return x[:, 0, :]
    """
    return error(
        "a second `...`", span, "", "write `:` for each dimension that is meant"
    )
