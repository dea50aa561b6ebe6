"""What can be wrong with whole arrays."""

from __future__ import annotations

from collections.abc import Iterable

from chadllvm.codes import code, error
from chadllvm.diagnostic import Diagnostic, Span
from chadllvm.frontend import hints
from chadllvm.ir.types import Type
from chadllvm.ir.wording import said


@code("CL0701")
def not_constant(span: Span) -> Diagnostic:
    """An argument that decides the type of the result must be a constant.

    How many dimensions an array has is part of its type; an axis decides it.

    Fails:

        def f(x: cl.f64[:, :], k: int):
            return np.sum(x, axis=k)

    Works:

        def f(x: cl.f64[:, :]):
            return np.sum(x, axis=0)
    """
    return error(
        "this must be a constant",
        span,
        "its value must be known when the program is compiled",
        "write it as a literal",
    )


@code("CL0704")
def unsupported_dtype(span: Span, found: str) -> Diagnostic:
    """The elements of an array are of a type of the language.

    Fails:

        def f(n: int):
            return np.zeros(n, dtype=np.complex128)

    Works:

        def f(n: int):
            return np.zeros((n, 2))
    """
    return error(
        "unsupported dtype",
        span,
        f"`{found}` is not a type of elements here",
        "use float, np.float32, int or bool, the `dtype` of an array, or leave it out",
    )


@code("CL0726")
def open_shape(span: Span, ty: Type) -> Diagnostic:
    """How many dimensions an array has is known when the program is compiled.

    Sizes may be any integers, but how many there are must show: as a tuple or a list
    that is written out, or as the shape of another array.

    Fails:

        def f(sizes: cl.i64[:]):
            return np.zeros(sizes)

    Works:

        def f(sizes: cl.i64[:]):
            return np.zeros((sizes[0], sizes[1]))
    """
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
    """A function of NumPy that is known here does not take all of its options.

    `out=` is never needed: results are put where they belong.

    Fails:

        def f(x: cl.f64[:], y: cl.f64[:]):
            return np.cumsum(x, out=y)

    Works:

        def f(x: cl.f64[:]):
            return np.cumsum(x)
    """
    return error(
        "unsupported argument",
        span,
        f"`{name}` does not take `{option}` here",
        hints.similar(option, known) or "leave it out; there are " + ", ".join(known),
    )


@code("CL0706")
def not_an_array_function(span: Span, name: str, ty: Type) -> Diagnostic:
    """The functions of `math`, and conversions such as `float`, take single numbers.

    NumPy's functions take arrays.

    Fails:

        def f(x: cl.f64[:]):
            return math.exp(x)

    Works:

        def f(x: cl.f64[:]):
            return np.exp(x)
    """
    return error(
        "a number is needed",
        span,
        f"`{name}` takes numbers, found {said(ty)}",
        "use the function of the same name in NumPy, which takes arrays",
    )


@code("CL0707")
def ambiguous_truth(span: Span, ty: Type) -> Diagnostic:
    """A whole array is neither true nor false.

    `and`, `or`, `not` and `if` ask one question; `&`, `|` and `~` ask one for each
    element.

    Fails:

        def f(x: cl.f64[:]):
            return x > 0.0 and x < 1.0

    Works:

        def f(x: cl.f64[:]):
            return (x > 0.0) & (x < 1.0)
    """
    return error(
        "the truth of a whole array",
        span,
        f"{said(ty)} is neither true nor false",
        "use `np.any(...)` or `np.all(...)`, or `&`, `|` and `~` element by element",
    )


@code("CL0708")
def boolean_arithmetic(span: Span, first: Type, second: Type) -> Diagnostic:
    """NumPy does not subtract or negate booleans.

    `&`, `|`, `^` and `~` are the operations of booleans.

    Fails:

        def f(x: cl.f64[:]):
            return (x > 0.0) - (x > 1.0)

    Works:

        def f(x: cl.f64[:]):
            return (x > 0.0) ^ (x > 1.0)
    """
    return error(
        "arithmetic on booleans",
        span,
        f"NumPy does not compute numbers of {said(first)} and {said(second)}",
        "use `&`, `|`, `^` and `~`, or multiply with a number first",
    )


@code("CL0709")
def list_arithmetic(span: Span) -> Diagnostic:
    """Arithmetic on lists is not that of arrays.

    In Python `+` joins two lists and `*` repeats one. For elementwise arithmetic make
    arrays of them.

    Fails:

        def f(x: float):
            return [x, 1.0] * x

    Works:

        def f(x: float):
            return np.array([x, 1.0]) * x
    """
    return error(
        "arithmetic on lists",
        span,
        "in Python this would join lists, or repeat one",
        "make the comprehension an array, as in `np.array([...])`",
    )


@code("CL0710")
def no_method(span: Span, ty: Type, name: str, known: Iterable[str]) -> Diagnostic:
    """Arrays do not have this method here.

    Most methods of NumPy's arrays that compute something are there; those that convert
    to Python's objects are not.

    Fails:

        def f(x: cl.f64[:]):
            return x.tolist()

    Works:

        def f(x: cl.f64[:]):
            return x.copy()
    """
    return error(
        "unknown method",
        span,
        f"{said(ty)} has no method `{name}` here",
        hints.of_method(ty, name, known),
    )


@code("CL0711")
def unknown_array_function(span: Span, name: str, known: Iterable[str]) -> Diagnostic:
    """A function of NumPy that has no meaning in compiled code.

    Most of NumPy that computes with arrays is there, and what is not can be written
    with a loop: loops are fast here. `docs/language.md` lists the functions.

    Fails:

        def f(x: cl.f64[:]) -> float:
            return np.sum(np.partition(x, 3)[:3])

    Works:

        def f(x: cl.f64[:]) -> float:
            return np.sum(np.sort(x)[:3])
    """
    return error(
        "unknown function",
        span,
        f"`{name}` has no meaning in compiled code",
        hints.of_function(name, known),
    )


@code("CL0721")
def mixed_elements(span: Span) -> Diagnostic:
    """The elements of an array are all numbers, or all arrays of one rank.

    An array is regular: its rows have one length, and its elements one type.

    Fails:

        def f(x: cl.f64[:]):
            return np.array([1.0, x])

    Works:

        def f(x: cl.f64[:]):
            return np.array([[1.0, 2.0], [x[0], x[1]]])
    """
    return error(
        "elements of different shapes or types",
        span,
        "the elements of an array are all numbers, or all arrays of one rank",
        "make them of one kind",
    )


@code("CL0722")
def empty_array(span: Span) -> Diagnostic:
    """An array of no elements has no type by itself.

    Say how many dimensions it has with `np.zeros`, or give the empty list a name and
    append to it.

    Fails:

        def f(n: int):
            return np.array([])

    Works:

        def f(n: int):
            return np.zeros(0)
    """
    return error(
        "an array of no elements",
        span,
        "nothing says what its elements would be",
        "use `np.zeros(0)`",
    )


@code("CL0725")
def list_or_array(span: Span) -> Diagnostic:
    """What is a list on one way and an array on another is neither.

    In Python `+`, `*`, comparisons and copies of lists are not those of arrays, so that
    it would depend on the way what they mean. Make it one of the two on all ways.

    Fails:

        def f(x: cl.f64[:], n: int):
            y = x
            for _ in range(n):
                y = [2.0 * value for value in y]
            return y + y

    Works:

        def f(x: cl.f64[:], n: int):
            y = x
            for _ in range(n):
                y = np.array([2.0 * value for value in y])
            return y + y
    """
    return error(
        "a list or an array",
        span,
        "in Python this is a list on one way to here and an array on another",
        "make an array of it on all ways, as by `np.array(...)`",
    )
