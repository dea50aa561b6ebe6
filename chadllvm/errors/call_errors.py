"""What can be wrong with a call, its arguments and its static arguments."""

from __future__ import annotations

from chadllvm.errors import hints
from chadllvm.ir.types import Type
from chadllvm.ir.wording import said
from chadllvm.support.codes import code, error
from chadllvm.support.diagnostic import Diagnostic, Span


@code("CL0601")
def not_callable(span: Span, name: str) -> Diagnostic:
    return error(
        "not a function",
        span,
        f"`{name}` cannot be called",
        "call functions of `math` and NumPy, or jitted ones; an element of an array is "
        "read by brackets, as in `x[i]`",
    )


@code("CL0602")
def unknown_function(span: Span, name: str, *, is_class: bool = False) -> Diagnostic:
    return error(
        "unknown function",
        span,
        f"`{name}` has no meaning in compiled code",
        hints.CLASS if is_class else hints.of_function(name),
    )


@code("CL0603")
def not_jitted(span: Span, name: str) -> Diagnostic:
    return error(
        "call of a function that is not compiled",
        span,
        f"`{name}` is a plain Python function of another module",
        f"decorate `{name}` with `jit`, or call `compile_package` with its module",
    )


@code("CL0605")
def wrong_argument_count(span: Span, name: str, expected: str) -> Diagnostic:
    return error(
        "wrong number of arguments",
        span,
        f"`{name}` takes {expected}",
        "pass exactly that many",
    )


@code("CL0606")
def unexpected_keyword(span: Span, name: str, keyword: str) -> Diagnostic:
    return error(
        "unexpected keyword argument",
        span,
        f"`{name}` does not take `{keyword}` by name",
        "pass it by position, or leave it out",
    )


@code("CL0607")
def repeated_argument(span: Span, name: str, parameter: str) -> Diagnostic:
    return error(
        "argument given twice",
        span,
        f"`{parameter}` of `{name}` has a value already",
        "remove one of the two",
    )


@code("CL0608")
def missing_argument(span: Span, name: str, parameter: str) -> Diagnostic:
    return error(
        "missing argument",
        span,
        f"`{name}` needs a value for `{parameter}`",
        f"pass `{parameter}`",
    )


@code("CL0609")
def wrong_argument(
    span: Span, name: str, parameter: str, found: Type, declared: object
) -> Diagnostic:
    return error(
        "wrong argument type",
        span,
        f"`{parameter}` of `{name}` is {said(declared)}, found {said(found)}",
        "convert the argument or change the annotation",
    )


@code("CL0610")
def wrong_operand(span: Span, name: str, expected: str, found: Type) -> Diagnostic:
    return error(
        "wrong argument type",
        span,
        f"`{name}` takes {expected}, found {said(found)}",
        f"pass {expected}",
    )


@code("CL0617")
def endless_calls(span: Span, name: str) -> Diagnostic:
    return error(
        "calls of a function inside of itself do not end",
        span,
        f"`{name}` is compiled anew for ever other static arguments",
        "test a static parameter to end it; if it is only deep, annotate the result",
    )


@code("CL0612")
def function_needed(span: Span, name: str, arity: int) -> Diagnostic:
    plural = "" if arity == 1 else "s"
    return error(
        "a function is needed",
        span,
        f"`{name}` takes a function of {arity} argument{plural} here",
        "pass a jitted function, a `lambda`, or one of the functions of NumPy",
    )


@code("CL0613")
def changed_type(span: Span, name: str, before: Type, after: Type) -> Diagnostic:
    return error(
        "the function changes the type",
        span,
        f"`{name}` combines {said(before)} to {said(after)}",
        "let it return what it takes, for example floats for floats",
    )


@code("CL0614")
def not_static(span: Span, function: str, name: str) -> Diagnostic:
    return error(
        "a static argument must be known when the program is compiled",
        span,
        f"`{function}` takes `{name}` as a static argument",
        "pass a constant, or a static parameter of this function",
    )


@code("CL0615")
def unhashable(span: Span, function: str, name: str) -> Diagnostic:
    return error(
        "a static argument must be hashable",
        span,
        f"`{function}` takes `{name}` as a static argument",
        "use a tuple instead of a list",
    )


@code("CL0616")
def assigned_static(span: Span, name: str) -> Diagnostic:
    return error(
        "a static parameter is assigned to",
        span,
        f"`{name}` is a constant of the compiled program",
        "use another name for the new value",
    )


@code("CL0618")
def not_chosen(span: Span, name: str, reason: str) -> Diagnostic:
    return error(
        f"`{name}` does not take these arguments",
        span,
        reason,
        "`docs/functions.md` says what it takes here",
    )
