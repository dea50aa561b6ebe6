"""What can be wrong with unions, and with what takes them apart."""

from __future__ import annotations

from collections.abc import Sequence

from chadllvm.ir.types import Type
from chadllvm.ir.wording import said
from chadllvm.support.codes import code, error
from chadllvm.support.diagnostic import Diagnostic, Span


@code("CL1401")
def not_one(span: Span, what: str, ty: Type) -> Diagnostic:
    return error(
        "this may be one of several things",
        span,
        f"{what} takes one type, this is {said(ty)}",
        "ask first which one it is, by `is None`, `isinstance` or `match`",
    )


@code("CL1402")
def not_in_all(span: Span, ty: Type, name: str, missing: Sequence[Type]) -> Diagnostic:
    return error(
        "unknown field",
        span,
        f"this is {said(ty)}; there is no `{name}` in {', '.join(map(said, missing))}",
        "ask first which one it is, by `is None`, `isinstance` or `match`",
    )


@code("CL1403")
def not_a_class(span: Span, shown: str) -> Diagnostic:
    return error(
        "not a class",
        span,
        f"`{shown}` is no class that is known when the function is compiled",
        "name the class, or a tuple of classes",
    )


@code("CL1404")
def unknown_class(span: Span, ty: Type) -> Diagnostic:
    return error(
        "this class cannot be told",
        span,
        f"what is asked is {said(ty)}",
        "ask for a class of records, a number, a tuple, `np.ndarray` or None",
    )


@code("CL1405")
def not_covered(span: Span, lacking: Sequence[str]) -> Diagnostic:
    cases = ", ".join("other values" if c == "_" else f"`{c}`" for c in lacking)
    return error(
        "not all cases are covered",
        span,
        f"there is no case for {cases}",
        "add a case for what is missing, or `case _`",
    )


@code("CL1406")
def never_taken(span: Span, ty: Type) -> Diagnostic:
    return error(
        "a case that is never taken",
        span,
        f"what is matched is {said(ty)}: no value of it comes here and fits",
        "leave it out, or correct the pattern or the cases before it",
    )


@code("CL1407")
def wrong_pattern_parts(span: Span, title: str, names: Sequence[str]) -> Diagnostic:
    known = f"its fields are {', '.join(names)}" if names else "it has no such fields"
    return error(
        "a pattern that does not fit its class",
        span,
        f"these are no patterns for the fields of {title}",
        known,
    )


@code("CL1408")
def unsupported_pattern(span: Span) -> Diagnostic:
    return error(
        "this pattern is not supported",
        span,
        "it is no class, constant, tuple or name",
        "take the value apart in the case",
    )


@code("CL1409")
def pattern_of_array(span: Span, ty: Type) -> Diagnostic:
    return error(
        "an array is not matched with a sequence",
        span,
        f"this is {said(ty)}",
        "ask for its length with `len`",
    )


@code("CL1410")
def list_without_room(span: Span, ty: Type) -> Diagnostic:
    return error(
        "a list that cannot be kept",
        span,
        f"its items are {said(ty)}",
        "keep what has lists, or nothing, in it outside of lists",
    )
