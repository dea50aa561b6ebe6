"""What can be wrong with functions that call themselves."""

from __future__ import annotations

from collections.abc import Sequence

from chadllvm.ir.types import Type
from chadllvm.ir.wording import said, shorten
from chadllvm.support.codes import code, error
from chadllvm.support.diagnostic import Diagnostic, Span


@code("CL1301")
def unknown_result(span: Span, name: str) -> Diagnostic:
    return error(
        "the type of a recursive result is not known",
        span,
        f"the result of `{name}` depends on this call",
        f"annotate `{name}` with the type of its result, as in `-> float`",
    )


@code("CL1302")
def growing_result(span: Span, name: str) -> Diagnostic:
    return error(
        "the type of a recursive result grows with each call",
        span,
        f"whatever type this call has, `{name}` returns another one",
        "return numbers, arrays or records of them instead of functions",
    )


@code("CL1303")
def endless_types(span: Span, name: str, types: Sequence[Type]) -> Diagnostic:
    found = shorten(", ".join(map(said, types)), 80)
    return error(
        "a recursive function takes ever other types",
        span,
        f"`{name}` is called here with ({found})",
        "pass arguments of the same types at each call",
    )


@code("CL1304")
def growing_function(span: Span, name: str) -> Diagnostic:
    return error(
        "a function grows with each recursive call",
        span,
        f"`{name}` is called here with a function that is made of the last one",
        "pass the same function on, with what changes as arguments beside it",
    )


@code("CL1305")
def derivative_of_itself(span: Span, name: str) -> Diagnostic:
    return error(
        "a function takes a derivative of itself",
        span,
        f"`{name}` calls the function that this stands in",
        "differentiate another function; a static parameter that ends the recursion "
        "makes another function at each depth",
    )
