"""What can be wrong with results, branches, loops and comprehensions."""

from __future__ import annotations

from chadllvm.ir.types import Type
from chadllvm.ir.wording import said
from chadllvm.support.codes import code, error
from chadllvm.support.diagnostic import Diagnostic, Span


@code("CL0401")
def returns_nothing(span: Span, label: str = "there is no value here") -> Diagnostic:
    return error(
        "returns nothing",
        span,
        label,
        "return a number, an array or a tuple, or fill an array among the parameters "
        "by its own name, as in `a[i] = x`",
    )


@code("CL0402")
def missing_return(span: Span, construct: str) -> Diagnostic:
    return error(
        "not every path returns",
        span,
        f"this {construct} can end without a `return`",
        "end every path with a `return`",
    )


@code("CL0405")
def different_returns(span: Span, then: Type, orelse: Type) -> Diagnostic:
    return error(
        "the branches return different types",
        span,
        f"one branch returns {said(then)}, the other {said(orelse)}",
        "return the same type on every path",
    )


@code("CL0406")
def different_branches(span: Span, then: Type, orelse: Type) -> Diagnostic:
    return error(
        "the branches have different types",
        span,
        f"this is {said(then)} or {said(orelse)}",
        "make both of the same type",
    )


@code("CL0407")
def not_iterable(span: Span, ty: Type) -> Diagnostic:
    return error(
        "not iterable",
        span,
        f"this is {said(ty)}",
        "loop over `range(...)`, an array, `enumerate(...)`, `zip(...)` or "
        "`reversed(...)`",
    )


@code("CL0408")
def zero_step(span: Span) -> Diagnostic:
    return error(
        "the step of a range is zero",
        span,
        "",
        "use a step other than 0",
    )


@code("CL0411")
def bare_generator(span: Span) -> Diagnostic:
    return error(
        "a generator is not a value",
        span,
        "it may stand only as the argument of `sum`, `min` or `max`",
        "write a list comprehension",
    )


@code("CL0412")
def bare_iterator(span: Span, name: str) -> Diagnostic:
    return error(
        "an iterator is not a value",
        span,
        f"`{name}(...)` can be run over only",
        f"write `list({name}(...))`, or loop over it",
    )


@code("CL0413")
def not_summable(span: Span, what: str, ty: Type) -> Diagnostic:
    return error(
        f"`{what}` of elements that are not numbers",
        span,
        f"the elements are {said(ty)}",
        "reduce each component or row by itself",
    )


@code("CL0414")
def never_returns(span: Span) -> Diagnostic:
    return error(
        "every path raises an exception",
        span,
        "the type of the result is not known",
        "annotate the function with the type of its result",
    )
