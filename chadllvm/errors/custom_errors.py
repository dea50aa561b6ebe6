"""What can be wrong with derivatives of the user's own."""

from __future__ import annotations

from chadllvm.ir.types import Type
from chadllvm.ir.wording import said
from chadllvm.support.codes import code, error
from chadllvm.support.diagnostic import Diagnostic, Span


@code("CL1501")
def no_rule(span: Span, name: str) -> Diagnostic:
    return error(
        f"{name} has no rule for its derivative",
        span,
        "this function is to have derivatives of its own",
        f"call {name}.defvjp(forward, backward) or {name}.defjvp(rule) first",
    )


@code("CL1502")
def rule_parameters(span: Span, rule: str, name: str, count: int) -> Diagnostic:
    plural = "" if count == 1 else "s"
    return error(
        f"a rule of {name} takes other arguments",
        span,
        f"`{rule}` should have {count} parameter{plural}",
        "see docs/language.md, derivatives of your own",
    )


@code("CL1503")
def rule_annotation(span: Span, rule: str, parameter: str, wanted: Type) -> Diagnostic:
    return error(
        f"a rule is annotated with another type: parameter {parameter} of {rule}",
        span,
        f"it is given {said(wanted)}",
        "leave the annotation out",
    )


@code("CL1504")
def no_residuals(span: Span, rule: str, found: Type) -> Diagnostic:
    return error(
        f"{rule} does not return a value and what is kept",
        span,
        f"this is {said(found)}",
        "return a tuple of two: the value, and what the other rule needs (or None)",
    )


@code("CL1505")
def wrong_value(
    span: Span, rule: str, found: Type, name: str, wanted: Type
) -> Diagnostic:
    return error(
        f"{rule} gives another value than {name}",
        span,
        f"the value here is {said(found)}",
        f"{name} returns {said(wanted)}",
    )


@code("CL1506")
def wrong_count(
    span: Span, rule: str, found: Type, name: str, count: int
) -> Diagnostic:
    plural = "" if count == 1 else "s"
    return error(
        f"{rule} does not return the cotangents of {name}",
        span,
        f"this is {said(found)}",
        f"return {count} cotangent{plural}, in a tuple",
    )


@code("CL1507")
def wrong_cotangent(
    span: Span, name: str, parameter: str, found: Type, wanted: Type
) -> Diagnostic:
    return error(
        f"the cotangent of {parameter}, an argument of {name}, has another type",
        span,
        f"this has {said(found)} for it",
        f"the cotangent is {said(wanted)}",
    )


@code("CL1508")
def no_tangent(span: Span, rule: str, found: Type) -> Diagnostic:
    return error(
        f"{rule} does not return a value and its tangent",
        span,
        f"this is {said(found)}",
        "return a tuple of two: the value, and how fast it changes",
    )


@code("CL1509")
def wrong_tangent(span: Span, name: str, found: Type, wanted: Type) -> Diagnostic:
    return error(
        f"the tangent of what {name} returns has another type",
        span,
        f"the tangent here is {said(found)}",
        f"the tangent is {said(wanted)}",
    )


@code("CL1510")
def irregular(span: Span, name: str, found: Type) -> Diagnostic:
    return error(
        f"{name} has derivatives of its own, and cannot take or return this",
        span,
        f"this is {said(found)}",
        "use numbers, arrays, tuples, records, unions or lists of arrays",
    )


@code("CL1514")
def called_back(span: Span, name: str, caller: str) -> Diagnostic:
    return error(
        f"{name}, which has derivatives of its own, is called by what it calls",
        span,
        f"{name} calls {caller}, which calls it again",
        f"let {name} call itself, or write it without recursion",
    )


@code("CL1511")
def cotangent_not_linear(span: Span, name: str) -> Diagnostic:
    return error(
        f"no tangents of {name}: its vjp is not linear in the cotangent",
        span,
        "this rule was to be transposed",
        f"give the tangents by {name}.defjvp(rule)",
    )


@code("CL1512")
def tangent_not_linear(span: Span, name: str) -> Diagnostic:
    return error(
        f"no cotangents of {name}: its jvp is not linear in the tangents",
        span,
        "this rule was to be transposed",
        f"make it linear, or give the cotangents by {name}.defvjp(forward, backward)",
    )


@code("CL1513")
def captured_real(span: Span, name: str) -> Diagnostic:
    return error(
        f"{name} has no derivative by what a function captured",
        span,
        "a function among its arguments captured what is differentiated by",
        "make what it captured an argument, or hold it fixed by cl.stop_gradient",
    )
