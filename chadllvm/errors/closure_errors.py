"""What can be wrong with functions as values, and with derivatives in programs."""

from __future__ import annotations

from chadllvm.ir.types import Type, has_float
from chadllvm.ir.wording import said
from chadllvm.support.codes import code, error
from chadllvm.support.diagnostic import Diagnostic, Span


@code("CL1102")
def captured_too_early(span: Span, name: str, function: str, line: int) -> Diagnostic:
    return error(
        "a variable is used before it has a value",
        span,
        f"`{name}` has none yet where `{function}` is defined, in line {line}",
        f"assign `{name}` before the function is defined",
    )


@code("CL1103")
def captured_changed(span: Span, name: str, function: str) -> Diagnostic:
    return error(
        "a captured variable has changed",
        span,
        f"`{name}` was assigned again since `{function}` was made",
        f"make it a default, as in `def f(x, {name}={name})`, or use a new name",
    )


@code("CL1104")
def decorated(span: Span) -> Diagnostic:
    return error(
        "a decorated local function",
        span,
        "decorators run when Python defines the function",
        "remove the decorator: a local function is compiled with the one around it",
    )


@code("CL1105")
def not_a_function(span: Span, found: Type) -> Diagnostic:
    return error(
        "not a function",
        span,
        f"this is {said(found)}",
        "only functions can be called",
    )


@code("CL1106")
def returned_function(span: Span) -> Diagnostic:
    return error(
        "a function is returned to Python",
        span,
        "the result is or holds a function",
        "call it here and return what it gives",
    )


@code("CL1107")
def not_differentiable(span: Span, name: str, found: Type, wanted: str) -> Diagnostic:
    return error(
        f"cannot take the gradient of {name}",
        span,
        f"it returns {said(found)}",
        f"let it return {wanted}",
    )


@code("CL1108")
def no_reals(span: Span, name: str, parameter: int, found: Type) -> Diagnostic:
    why = "is or holds a function" if has_float(found) else "holds no real numbers"
    return error(
        f"cannot differentiate {name} by parameter {parameter}",
        span,
        f"this argument is {said(found)}, which {why}",
        "name the parameters to differentiate by with `argnums=`",
    )


@code("CL1111")
def grows(span: Span, name: str) -> Diagnostic:
    return error(
        "a function captures the one before it in each step",
        span,
        f"`{name}` would hold ever more functions",
        "keep what the functions differ in, such as numbers in a list",
    )


@code("CL1109")
def derivative_argument(
    span: Span,
    name: str,
    what: str,
    help: str = "write it as outside of compiled functions; positions are constants",
) -> Diagnostic:
    return error(
        f"bad argument of {name}",
        span,
        what,
        help,
    )


@code("CL1110")
def wrong_tangent(span: Span, found: Type, expected: Type) -> Diagnostic:
    return error(
        "not a tangent of its primal",
        span,
        f"this is {said(found)}, expected {said(expected)}",
        "a tangent has the type of its primal; that of an integer is None",
    )


@code("CL1112")
def list_argument(span: Span, name: str) -> Diagnostic:
    return error(
        "a list of numbers as the argument of a derivative",
        span,
        f"`{name}` is given a list of numbers, which is no array",
        "make an array of it, as by `np.array(...)`",
    )
