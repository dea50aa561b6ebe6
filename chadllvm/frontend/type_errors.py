"""What can be wrong with operands, indices and tuples."""

from __future__ import annotations

from chadllvm.codes import code, error
from chadllvm.diagnostic import Diagnostic, Span
from chadllvm.ir.types import Type
from chadllvm.ir.union import is_none, is_union
from chadllvm.ir.wording import said


@code("CL0501")
def elementwise(span: Span, what: str, ty: Type) -> Diagnostic:
    """`max` and `min` of several values take numbers.

    Of one array they give the greatest or least element. `np.maximum` and `np.minimum`
    compare arrays element by element.

    Fails:

        def f(x: cl.f64[:]):
            return max(x, 0.0)

    Works:

        def f(x: cl.f64[:]):
            return np.maximum(x, 0.0)
    """
    return error(
        "an array among numbers",
        span,
        f"{what} takes numbers, found {said(ty)}",
        "use `np.maximum` or `np.minimum`, which compare arrays element by element",
    )


@code("CL0502")
def not_a_number(span: Span, what: str, ty: Type) -> Diagnostic:
    """An operation that takes numbers was given a tuple or a record.

    Tuples are joined by `+` and repeated by a constant; their components are of types
    of their own, and numbers that are added are in arrays.

    Fails:

        def f(p: tuple[float, float], q: tuple[float, float]):
            return p - q

    Works:

        def f(p: tuple[float, float], q: tuple[float, float]):
            return p[0] - q[0], p[1] - q[1]
    """
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
    """A condition is a boolean or a number.

    Tuples, records and functions are neither true nor false here: say what is asked.

    Fails:

        def f(p: tuple[float, float]) -> float:
            return 1.0 if p else 0.0

    Works:

        def f(p: tuple[float, float]) -> float:
            return 1.0 if p[0] > 0.0 else 0.0
    """
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
    """Indices, sizes and the ends of ranges are integers.

    `/` always gives a float: use `//` for integers, or `int(...)`, which cuts off.

    Fails:

        def f(x: cl.f64[:]) -> float:
            return x[len(x) / 2]

    Works:

        def f(x: cl.f64[:]) -> float:
            return x[len(x) // 2]
    """
    return error(
        "an index, a size or the end of a range must be an integer",
        span,
        f"this is {said(ty)}",
        "convert it with `int(...)`; steps of fractions are made by `np.linspace`",
    )


@code("CL0505")
def not_indexable(span: Span, ty: Type) -> Diagnostic:
    """Only arrays, lists, tuples and dictionaries have elements.

    A number has none; often an index too many was written, or a parameter annotated
    with `float` is meant to be an array.

    Fails:

        def f(x: float) -> float:
            return x[0]

    Works:

        def f(x: cl.f64[:]) -> float:
            return x[0]
    """
    return error(
        "not indexable",
        span,
        f"this is {said(ty)}, which has no elements",
        "only arrays and tuples can be indexed",
    )


@code("CL0506")
def too_many_indices(span: Span, count: int, ty: Type) -> Diagnostic:
    """An array takes at most one index for each of its dimensions.

    A mask counts for as many indices as it has dimensions.

    Fails:

        def f(x: cl.f64[:]) -> float:
            return x[0, 1]

    Works:

        def f(x: cl.f64[:, :]) -> float:
            return x[0, 1]
    """
    return error(
        "too many indices",
        span,
        f"{count} indices into {said(ty)}",
        "use at most one index per dimension",
    )


@code("CL0507")
def tuple_slice(span: Span) -> Diagnostic:
    """Which components a slice of a tuple has must be known when it is compiled.

    They may have different types. An array can be sliced by variables.

    Fails:

        def f(p: tuple[float, float, float], n: int):
            return p[:n]

    Works:

        def f(p: tuple[float, float, float]):
            return p[:2]
    """
    return error(
        "the bounds of a tuple's slice must be constants",
        span,
        "",
        "write them as literals, or use an array",
    )


@code("CL0508")
def dynamic_tuple_index(span: Span) -> Diagnostic:
    """Which component of a tuple is taken must be known when the program is compiled.

    The components may have different types, and the index decides which one the result
    has. Put numbers into an array to index them by a variable.

    Fails:

        def f(p: tuple[float, float], n: int) -> float:
            return p[n]

    Works:

        def f(p: tuple[float, float], n: int) -> float:
            values = np.array([p[0], p[1]])
            return values[n]
    """
    return error(
        "a tuple's index must be a constant",
        span,
        "its value is not known when the program is compiled",
        "use an integer literal, or an array instead of the tuple",
    )


@code("CL0509")
def tuple_index_range(span: Span, index: int, size: int) -> Diagnostic:
    """A tuple has no component of this number.

    Components count from 0, and from -1 backwards.

    Fails:

        def f(p: tuple[float, float]) -> float:
            return p[2]

    Works:

        def f(p: tuple[float, float]) -> float:
            return p[1]
    """
    return error(
        "tuple index out of range",
        span,
        f"index {index} into a tuple of {size}",
        f"use an index from {-size} to {size - 1}" if size else "it has no components",
    )


@code("CL0510")
def not_unpackable(span: Span, ty: Type) -> Diagnostic:
    """Only tuples and arrays can be unpacked.

    A number has no components.

    Fails:

        def f(x: float) -> float:
            a, b = x
            return a + b

    Works:

        def f(x: tuple[float, float]) -> float:
            a, b = x
            return a + b
    """
    return error(
        "not a tuple",
        span,
        f"{said(ty)} cannot be unpacked",
        "only tuples and arrays can",
    )


@code("CL0511")
def wrong_unpacking(span: Span, names: int, size: int) -> Diagnostic:
    """A tuple is unpacked into as many names as it has components.

    Fails:

        def f(x: tuple[float, float, float]) -> float:
            a, b = x
            return a + b

    Works:

        def f(x: tuple[float, float, float]) -> float:
            a, b, c = x
            return a + b + c
    """
    return error(
        "wrong number of names",
        span,
        f"a tuple of {size} is unpacked into {names}",
        f"write {size} names",
    )


@code("CL0514")
def mixed_widths(span: Span) -> Diagnostic:
    """An f32 and an f64 meet only by a conversion that is written down.

    Which of the two was meant cannot be known: the digits of the one, or the speed of
    the other. Python's own numbers have no width, and integers take that of the float
    beside them.

    Fails:

        def f(x: cl.f32, y: cl.f64):
            return x * y

    Works:

        def f(x: cl.f32, y: cl.f64):
            return x * np.float32(y)
    """
    return error(
        "f32 and f64 meet",
        span,
        "one operand is an f32, another one an f64",
        "convert one of them: `np.float32(x)` or `np.float64(x)`, of an array "
        "`x.astype(np.float32)`",
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
        f"this is {said(ty)}",
        "a name in a loop has one type: use each component by itself",
    )
