"""What can be wrong with results, branches, loops and comprehensions."""

from __future__ import annotations

from chadllvm.codes import code, error
from chadllvm.diagnostic import Diagnostic, Span
from chadllvm.ir.types import Type
from chadllvm.ir.wording import said


@code("CL0401")
def returns_nothing(span: Span, label: str = "there is no value here") -> Diagnostic:
    """A compiled function returns a value, or fills arrays among its parameters.

    Without either it would do nothing. `None` and the empty tuple are no values. An
    array is filled by the parameter's own name: `a[i] = x`, not `row = a[i]` and then
    `row[...] = x`.

    Fails:

        def f(x: float):
            y = 2.0 * x

    Works:

        def f(x: float):
            y = 2.0 * x
            return y
    """
    return error(
        "returns nothing",
        span,
        label,
        "return a number, an array or a tuple, or fill an array among the parameters "
        "by its own name, as in `a[i] = x`",
    )


@code("CL0402")
def missing_return(span: Span, construct: str) -> Diagnostic:
    """Every path through a function ends with a `return`.

    Python returns None where there is none, and None is no value here.

    Fails:

        def f(x: float) -> float:
            if x > 0.0:
                return x

    Works:

        def f(x: float) -> float:
            if x > 0.0:
                return x
            return 0.0
    """
    return error(
        "not every path returns",
        span,
        f"this {construct} can end without a `return`",
        "end every path with a `return`",
    )


@code("CL0405")
def different_returns(span: Span, then: Type, orelse: Type) -> Diagnostic:
    """A function returns one type on every path.

    An integer and a float make a float; nothing else is joined.

    Fails:

        def f(x: float):
            if x > 0.0:
                return x
            return (x, x)

    Works:

        def f(x: float):
            if x > 0.0:
                return (x, 0.0)
            return (x, x)
    """
    return error(
        "the branches return different types",
        span,
        f"one branch returns {said(then)}, the other {said(orelse)}",
        "return the same type on every path",
    )


@code("CL0406")
def different_branches(span: Span, then: Type, orelse: Type) -> Diagnostic:
    """Both sides of a conditional expression have one type.

    An integer and a float make a float; nothing else is joined.

    Fails:

        def f(x: float):
            return x if x > 0.0 else (x, 1.0)

    Works:

        def f(x: float):
            return (x, 0.0) if x > 0.0 else (x, 1.0)
    """
    return error(
        "the branches have different types",
        span,
        f"this is {said(then)} or {said(orelse)}",
        "make both of the same type",
    )


@code("CL0407")
def not_iterable(span: Span, ty: Type) -> Diagnostic:
    """A loop runs over a range, an array, a tuple, or what `zip` makes of them.

    A number has no elements.

    Fails:

        def f(n: int) -> float:
            total = 0.0
            for i in n:
                total += i
            return total

    Works:

        def f(n: int) -> float:
            total = 0.0
            for i in range(n):
                total += i
            return total
    """
    return error(
        "not iterable",
        span,
        f"this is {said(ty)}",
        "loop over `range(...)`, an array, `enumerate(...)`, `zip(...)` or "
        "`reversed(...)`",
    )


@code("CL0408")
def zero_step(span: Span) -> Diagnostic:
    """The step of a range or a slice is not zero.

    It would never end; Python refuses it as well.

    Fails:

        def f(x: cl.f64[:]) -> float:
            return sum(x[::0])

    Works:

        def f(x: cl.f64[:]) -> float:
            return sum(x[::2])
    """
    return error(
        "the step of a range is zero",
        span,
        "",
        "use a step other than 0",
    )


@code("CL0411")
def bare_generator(span: Span) -> Diagnostic:
    """A generator stands only as the argument of a reduction.

    `sum`, `min`, `max`, `any` and `all` take one. A variable can hold a list.

    Fails:

        def f(x: cl.f64[:]) -> float:
            squares = (v * v for v in x)
            return sum(squares)

    Works:

        def f(x: cl.f64[:]) -> float:
            squares = [v * v for v in x]
            return sum(squares)
    """
    return error(
        "a generator is not a value",
        span,
        "it may stand only as the argument of `sum`, `min` or `max`",
        "write a list comprehension",
    )


@code("CL0412")
def bare_iterator(span: Span, name: str) -> Diagnostic:
    """An iterator is run over at once.

    `accumulate(...)`, `zip(...)` and the like are no values. Make a list of it, or
    loop.

    Fails:

        from itertools import accumulate

        def f(x: cl.f64[:]):
            return accumulate(x)

    Works:

        from itertools import accumulate

        def f(x: cl.f64[:]):
            return list(accumulate(x))
    """
    return error(
        "an iterator is not a value",
        span,
        f"`{name}(...)` can be run over only",
        f"write `list({name}(...))`, or loop over it",
    )


@code("CL0413")
def not_summable(span: Span, what: str, ty: Type) -> Diagnostic:
    """`sum` and the other reductions of Python take numbers.

    NumPy's reductions take arrays of any number of dimensions.

    Fails:

        def f(x: cl.f64[:, :]):
            return sum(x)

    Works:

        def f(x: cl.f64[:, :]):
            return np.sum(x, axis=0)
    """
    return error(
        f"`{what}` of elements that are not numbers",
        span,
        f"the elements are {said(ty)}",
        "reduce each component or row by itself",
    )


@code("CL0414")
def never_returns(span: Span) -> Diagnostic:
    """A function that only raises exceptions says what type its result would have.

    Fails:

        def f(x: float):
            raise NotImplementedError("later")

    Works:

        def f(x: float) -> float:
            raise NotImplementedError("later")
    """
    return error(
        "every path raises an exception",
        span,
        "the type of the result is not known",
        "annotate the function with the type of its result",
    )
