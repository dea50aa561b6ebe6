"""What can be wrong with sets, which hold integers."""

from __future__ import annotations

from chadllvm.ir.types import Type
from chadllvm.ir.wording import said
from chadllvm.support.codes import code, error
from chadllvm.support.diagnostic import Diagnostic, Span


@code("CL1901")
def not_an_element(span: Span, ty: Type) -> Diagnostic:
    return error(
        "a set holds integers",
        span,
        f"this is {said(ty)}",
        "write what is looked up as an integer, a pair as `i * width + j`",
    )


@code("CL1902")
def not_a_set(span: Span, ty: Type) -> Diagnostic:
    return error(
        "an operator of sets needs two sets",
        span,
        f"this is {said(ty)}",
        "make it one by `set(...)`",
    )


@code("CL1903")
def not_an_operator(span: Span) -> Diagnostic:
    return error(
        "sets do not have this operator",
        span,
        "an operand is a set",
        "sets have `|`, `&`, `-`, `^`, `in` and comparisons",
    )


@code("CL1904")
def set_method(span: Span, name: str) -> Diagnostic:
    return error(
        f"`{name}` of a set is not supported here",
        span,
        "",
        "`add`, `discard`, `remove`, `update`, `clear`, `pop` are statements, and so "
        "are `|=`, `&=`, `-=`, `^=`",
    )


@code("CL1905")
def changing_operator(span: Span) -> Diagnostic:
    return error(
        "this operator does not change a set",
        span,
        "`|=`, `&=`, `-=` and `^=` do",
        "`s |= t` adds all of `t`",
    )


@code("CL1906")
def changed_in_loop(span: Span, name: str) -> Diagnostic:
    return error(
        "a loop changes the set that it runs over",
        span,
        f"the elements of `{name}` are run over here",
        f"run over `list({name})`",
    )


@code("CL1907")
def in_a_list(span: Span) -> Diagnostic:
    return error(
        "a set is no element of a list",
        span,
        "",
        "use one set of numbers such as `group * size + i`, or a tuple of sets",
    )
