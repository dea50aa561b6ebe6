"""What can be wrong with a function as a whole: its source, parameters, annotations."""

from __future__ import annotations

from chadllvm.errors import hints
from chadllvm.ir.types import Type
from chadllvm.ir.wording import said
from chadllvm.support.codes import code, error
from chadllvm.support.diagnostic import Diagnostic, Span


@code("CL0101")
def not_a_python_function(
    span: Span, help: str = "apply it to a function defined with `def`"
) -> Diagnostic:
    return error(
        "not a Python function",
        span,
        f"`{span.function}` is not a function written in Python",
        help,
    )


@code("CL0103")
def missing_source(span: Span) -> Diagnostic:
    return error(
        "the source of this function is not available",
        span,
        f"no text found for `{span.function}`",
        "define the function in a file or a notebook cell; for generated code, enter "
        "its text into `linecache.cache` under the file name given to `compile`",
    )


@code("CL0104")
def changed_source(span: Span) -> Diagnostic:
    return error(
        "the source of this function has changed",
        span,
        f"the text here is not the definition of `{span.function}`",
        "reload the module, so that the running code and the file agree",
    )


@code("CL0105")
def async_function(span: Span) -> Diagnostic:
    return error(
        "an async function cannot be compiled",
        span,
        "",
        "define it with a plain `def`",
    )


@code("CL0106")
def too_deep(span: Span) -> Diagnostic:
    return error(
        "this function is nested too deeply",
        span,
        "the compiler's recursion came to its limit",
        "split the expression, the chain of branches or the chain of calls",
    )


@code("CL0107")
def variadic_parameter(span: Span, name: str) -> Diagnostic:
    return error(
        "a variable number of arguments",
        span,
        f"`{name}` stands for any number of arguments",
        "list the parameters, or pass an array or a tuple",
    )


@code("CL0108")
def no_value_by_default(span: Span, name: str) -> Diagnostic:
    return error(
        "a parameter that is `None` by default",
        span,
        f"`{name}` has no type then",
        "name it in `static_argnames`, or give it a number, a tuple or a record",
    )


@code("CL0109")
def unknown_annotation(span: Span, found: str) -> Diagnostic:
    return error(
        "unknown type",
        span,
        f"`{found}` is not a type of the compiled language",
        hints.of_type(found),
    )


@code("CL0110")
def broken_annotation(span: Span, reason: str) -> Diagnostic:
    return error(
        "this annotation cannot be evaluated",
        span,
        reason,
        "the names in an annotation must be global where the function is defined",
    )


@code("CL0111")
def wrong_return_type(span: Span, found: Type, declared: object) -> Diagnostic:
    return error(
        "wrong return type",
        span,
        f"this function returns {said(found)}, and is annotated with {said(declared)}",
        "change the annotation or convert the value",
    )


@code("CL0112")
def wrong_annotation(span: Span, found: Type, declared: object) -> Diagnostic:
    return error(
        "the value does not fit its annotation",
        span,
        f"this is {said(found)}, the annotation says {said(declared)}",
        "change the annotation or convert the value",
    )
