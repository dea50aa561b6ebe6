"""What can be wrong with arrays, their axes and their shapes."""

from __future__ import annotations

from collections.abc import Iterable

from chadllvm.errors import hints
from chadllvm.ir.types import Type
from chadllvm.ir.wording import said
from chadllvm.support.codes import code, error
from chadllvm.support.diagnostic import Diagnostic, Span


@code("CL0701")
def not_constant(span: Span) -> Diagnostic:
    return error(
        "this must be a constant",
        span,
        "its value must be known when the program is compiled",
        "write it as a literal",
    )


@code("CL0704")
def unsupported_dtype(span: Span, found: str) -> Diagnostic:
    return error(
        "unsupported dtype",
        span,
        f"`{found}` is not a type of elements here",
        "use float, np.float32, int or bool, the `dtype` of an array, or leave it out",
    )


@code("CL0726")
def open_shape(span: Span, ty: Type) -> Diagnostic:
    return error(
        "the number of dimensions is not known",
        span,
        f"this is {said(ty)}",
        "write the sizes out here, as in `(n, m)`, or keep them in a tuple",
    )


@code("CL0705")
def unknown_option(
    span: Span, name: str, option: str, known: Iterable[str]
) -> Diagnostic:
    return error(
        "unsupported argument",
        span,
        f"`{name}` does not take `{option}` here",
        hints.similar(option, known) or "leave it out; there are " + ", ".join(known),
    )


@code("CL0706")
def not_an_array_function(span: Span, name: str, ty: Type) -> Diagnostic:
    return error(
        "a number is needed",
        span,
        f"`{name}` takes numbers, found {said(ty)}",
        "use the function of the same name in NumPy, which takes arrays",
    )


@code("CL0707")
def ambiguous_truth(span: Span, ty: Type) -> Diagnostic:
    return error(
        "the truth of a whole array",
        span,
        f"{said(ty)} is neither true nor false",
        "use `np.any(...)` or `np.all(...)`, or `&`, `|` and `~` element by element",
    )


@code("CL0708")
def boolean_arithmetic(span: Span, first: Type, second: Type) -> Diagnostic:
    return error(
        "arithmetic on booleans",
        span,
        f"NumPy does not compute numbers of {said(first)} and {said(second)}",
        "use `&`, `|`, `^` and `~`, or multiply with a number first",
    )


@code("CL0709")
def list_arithmetic(span: Span) -> Diagnostic:
    return error(
        "arithmetic on lists",
        span,
        "in Python this would join lists, or repeat one",
        "make the comprehension an array, as in `np.array([...])`",
    )


@code("CL0710")
def no_method(span: Span, ty: Type, name: str, known: Iterable[str]) -> Diagnostic:
    return error(
        "unknown method",
        span,
        f"{said(ty)} has no method `{name}` here",
        hints.of_method(ty, name, known),
    )


@code("CL0711")
def unknown_array_function(span: Span, name: str, known: Iterable[str]) -> Diagnostic:
    return error(
        "unknown function",
        span,
        f"`{name}` has no meaning in compiled code",
        hints.of_function(name, known),
    )


@code("CL0721")
def mixed_elements(span: Span) -> Diagnostic:
    return error(
        "elements of different shapes or types",
        span,
        "the elements of an array are all numbers, or all arrays of one rank",
        "make them of one kind",
    )


@code("CL0722")
def empty_array(span: Span) -> Diagnostic:
    return error(
        "an array of no elements",
        span,
        "nothing says what its elements would be",
        "use `np.zeros(0)`",
    )


@code("CL0725")
def list_or_array(span: Span) -> Diagnostic:
    return error(
        "a list or an array",
        span,
        "in Python this is a list on one way to here and an array on another",
        "make an array of it on all ways, as by `np.array(...)`",
    )


@code("CL0702")
def axis_range(span: Span, axis: int, rank: int) -> Diagnostic:
    plural = "" if rank == 1 else "s"
    return error(
        "axis out of range",
        span,
        f"axis {axis} of an array of {rank} dimension{plural}",
        f"use an axis from {-rank} to {rank - 1}",
    )


@code("CL0703")
def repeated_axis(span: Span) -> Diagnostic:
    return error("an axis is named twice", span, "", "name each axis once")


@code("CL0712")
def separated_indices(span: Span) -> Diagnostic:
    return error(
        "index arrays with a slice between them",
        span,
        "NumPy would move their dimensions to the front",
        "index in two steps, or write a comprehension",
    )


@code("CL0714")
def different_ranks(span: Span, name: str, ranks: Iterable[int]) -> Diagnostic:
    return error(
        "arrays of different ranks",
        span,
        f"`{name}` takes arrays of one rank, found "
        + " and ".join(map(str, sorted(set(ranks)))),
        "add a dimension with `None` as in `x[None, :]`",
    )


@code("CL0715")
def wrong_rank(span: Span, name: str, expected: str, ty: Type) -> Diagnostic:
    return error(
        "wrong number of dimensions",
        span,
        f"`{name}` takes {expected}, found {said(ty)}",
        "index, slice or reshape the array first",
    )


@code("CL0716")
def not_arrays(span: Span, name: str) -> Diagnostic:
    return error(
        "several arrays are needed",
        span,
        f"`{name}` joins arrays, and here are none",
        "write a tuple of arrays, as in `(x, y)`; `np.array([...])` is one of numbers",
    )


@code("CL0717")
def two_unknown_sizes(span: Span) -> Diagnostic:
    return error(
        "two sizes are left open",
        span,
        "only one of them can be -1",
        "say all sizes but one",
    )


@code("CL0718")
def not_squeezable(span: Span) -> Diagnostic:
    return error(
        "which dimensions go away must be known",
        span,
        "the sizes are not known when the program is compiled",
        "name the axis, as in `np.squeeze(x, axis=0)`",
    )


@code("CL0719")
def no_first_state(span: Span, ty: Type) -> Diagnostic:
    return error(
        "running results of arrays",
        span,
        f"nothing says how large the {said(ty)} are if there are none",
        "pass the first one, as in `accumulate(x, f, initial=start)`",
    )


@code("CL0720")
def second_ellipsis(span: Span) -> Diagnostic:
    return error(
        "a second `...`", span, "", "write `:` for each dimension that is meant"
    )
