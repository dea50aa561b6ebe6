"""What can be wrong with recursive data."""

from __future__ import annotations

from chadllvm.ir.types import Type
from chadllvm.ir.wording import said
from chadllvm.support.codes import code, error
from chadllvm.support.diagnostic import Diagnostic, Span


@code("CL1701")
def mixed(span: Span, found: Type) -> Diagnostic:
    return error(
        "recursive data together with lists of other things",
        span,
        f"takes or returns {said(found)}",
        "make it several parameters or results",
    )


@code("CL1702")
def same_name(span: Span, name: str) -> Diagnostic:
    return error(
        "two classes of the same name",
        span,
        f"there are two classes `{name}` that contain themselves",
        "give one of them another name",
    )


@code("CL1703")
def jacobian(span: Span, title: str, found: Type) -> Diagnostic:
    return error(
        f"no Jacobian of {title} by or of recursive data",
        span,
        f"{said(found)} holds recursive data",
        "take a gradient, `cl.jvp` or `cl.vjp`, or a Jacobian by numbers",
    )


@code("CL1705")
def with_rules(span: Span, title: str, found: Type) -> Diagnostic:
    return error(
        f"{title} has derivatives of its own and recursive data",
        span,
        f"it takes or returns {said(found)}",
        "pass the numbers that it needs",
    )
