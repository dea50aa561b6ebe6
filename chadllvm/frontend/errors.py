"""What can be wrong with results, branches, loops and comprehensions."""

from __future__ import annotations

from chadllvm.codes import code, error
from chadllvm.diagnostic import Diagnostic, Span
from chadllvm.ir.types import Type


@code("CL0401")
def returns_nothing(span: Span) -> Diagnostic:
    return error(
        "returns nothing",
        span,
        "there is no value here",
        "return a number, an array or a tuple",
    )


@code("CL0402")
def missing_return(span: Span, construct: str) -> Diagnostic:
    return error(
        "not every path returns",
        span,
        f"this {construct} can end without a `return`",
        "end every path with a `return`",
    )


@code("CL0403")
def return_in_loop(span: Span) -> Diagnostic:
    return error(
        "return inside a loop",
        span,
        "the loop would end early",
        "keep the result in a variable and return it after the loop",
    )


@code("CL0404")
def return_in_the_middle(span: Span) -> Diagnostic:
    return error(
        "some paths through this `if` return and several go on",
        span,
        "what follows would be needed more than once",
        "let each branch return on all of its paths or on none, as in "
        "`if done: return result`",
    )


@code("CL0405")
def different_returns(span: Span, then: Type, orelse: Type) -> Diagnostic:
    return error(
        "the branches return different types",
        span,
        f"one branch returns {then}, the other {orelse}",
        "return the same type on every path",
    )


@code("CL0406")
def different_branches(span: Span, then: Type, orelse: Type) -> Diagnostic:
    return error(
        "the branches have different types",
        span,
        f"this is {then} or {orelse}",
        "make both of the same type",
    )


@code("CL0407")
def not_iterable(span: Span, ty: Type) -> Diagnostic:
    return error(
        "not iterable",
        span,
        f"this is {ty}",
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


@code("CL0409")
def comprehension_condition(span: Span) -> Diagnostic:
    return error(
        "`if` in a comprehension is not supported",
        span,
        "the length of the result would depend on the data",
        "in a sum, add 0.0 where the condition fails: `sum(x if x > 0.0 else 0.0 ...)`",
    )


@code("CL0410")
def two_for_clauses(span: Span) -> Diagnostic:
    return error(
        "two `for` clauses in a comprehension",
        span,
        "this is the second one",
        "nest the comprehensions, as in `[[f(i, j) for j in range(m)] for i in "
        "range(n)]` or `sum(sum(...) for ...)`",
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
        f"the elements are {ty}",
        "reduce each component or row by itself",
    )
