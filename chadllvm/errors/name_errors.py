"""What can be wrong with a name, and with what it stands for."""

from __future__ import annotations

from collections.abc import Iterable

from chadllvm.errors import hints
from chadllvm.ir.types import Type
from chadllvm.ir.wording import said
from chadllvm.support.codes import code, error
from chadllvm.support.diagnostic import Diagnostic, Span


@code("CL0301")
def unknown_name(span: Span, name: str, known: Iterable[str] = ()) -> Diagnostic:
    return error(
        "unknown name",
        span,
        f"`{name}` is not defined",
        hints.of_name(name, known),
    )


@code("CL0302")
def unknown_attribute(
    span: Span, owner: str, name: str, known: Iterable[str] = ()
) -> Diagnostic:
    return error(
        "unknown attribute",
        span,
        f"{owner} has no attribute `{name}`",
        hints.of_attribute(name, known),
    )


@code("CL0303")
def not_a_value(span: Span, name: str, kind: str) -> Diagnostic:
    return error(
        "not a value",
        span,
        f"`{name}` is {kind}",
        "only numbers, NumPy arrays, and tuples, lists and records of these can be "
        "used from outside the function",
    )


@code("CL0304")
def function_as_value(span: Span, name: str, *, is_class: bool = False) -> Diagnostic:
    kind = "class" if is_class else "function"
    return error(
        f"a {kind} that cannot be compiled",
        span,
        f"`{name}` is a {kind} that the language does not know",
        hints.CLASS
        if is_class
        else "decorate it with `jit`, or define it in the function",
    )


@code("CL0305")
def unsupported_dtype(span: Span, name: str, dtype: object) -> Diagnostic:
    return error(
        "unsupported dtype",
        span,
        f"`{name}` holds {dtype}",
        "convert it with `.astype(np.float64)` before",
    )


@code("CL0306")
def large_integer(span: Span) -> Diagnostic:
    return error(
        "integer out of range",
        span,
        "this does not fit into 64 bits",
        "write it as a float",
    )


@code("CL0307")
def missing_on_branch(span: Span, name: str, branch: str, line: int) -> Diagnostic:
    return error(
        "variable defined on one branch only",
        span,
        f"`{name}` is not defined if the {branch} branch on line {line} was taken",
        f"give `{name}` a value before the `if`",
    )


@code("CL0308")
def conflicting_branches(
    span: Span, name: str, then: Type, orelse: Type, line: int
) -> Diagnostic:
    return error(
        "variable with two types",
        span,
        f"`{name}` is {said(then)} after one branch on line {line} and "
        f"{said(orelse)} after the other",
        "give it the same type on both, or use two names",
    )


@code("CL0309")
def only_in_loop(span: Span, name: str, line: int) -> Diagnostic:
    return error(
        "variable defined in a loop only",
        span,
        f"`{name}` is not defined if the loop on line {line} runs zero times",
        f"give `{name}` a value before the loop",
    )


@code("CL0310")
def changing_type(span: Span, name: str, before: Type, after: Type) -> Diagnostic:
    return error(
        "variable changes its type in a loop",
        span,
        f"`{name}` is {said(before)} before the loop and {said(after)} after a step",
        "give it one type, or use another name inside the loop",
    )


@code("CL0311")
def used_before_assignment(span: Span, name: str) -> Diagnostic:
    return error(
        "variable used before it is assigned",
        span,
        f"`{name}` has no value here",
        f"assign `{name}` first; an assignment anywhere in a function makes the name "
        "local to it",
    )


@code("CL0312")
def two_types_after(
    span: Span, name: str, first: Type, second: Type, line: int
) -> Diagnostic:
    return error(
        "variable with two types",
        span,
        f"`{name}` is {said(first)} or {said(second)}, as the loop on line {line} "
        "is left",
        "give it the same type on both ways, or use two names",
    )


@code("CL0313")
def unknown_exception(span: Span, name: str) -> Diagnostic:
    return error(
        "not a built-in exception",
        span,
        f"`{name}` cannot be raised by compiled code",
        "raise a built-in exception, such as `ValueError`",
    )
