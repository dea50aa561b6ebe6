"""The arguments of `grad`, `jvp` and their like: functions, and what is constant."""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Sequence
from typing import Any

from chadllvm.errors import call_errors, closure_errors
from chadllvm.frontend.context import Context
from chadllvm.frontend.scope import NotStatic
from chadllvm.frontend.signature import Parameter
from chadllvm.frontend.static import static_value
from chadllvm.support.diagnostic import Span

# What may stand in front of the arguments of a call.
_CALLED = re.compile(r"[\w.]+(?=\()")

# Which parameters: the position of one, or those of several.
Argnums = int | tuple[int, ...]


def positions(argnums: Argnums) -> tuple[int, ...]:
    """The positions of the parameters."""
    return (argnums,) if isinstance(argnums, int) else argnums


def given_arguments(
    cx: Context, node: ast.Call, name: str, names: Sequence[str]
) -> dict[str, ast.expr]:
    """The argument nodes by name; the first is required."""
    if len(node.args) > len(names) or not (node.args or node.keywords):
        raise call_errors.wrong_argument_count(
            cx.span(node), name, f"1 to {len(names)} arguments"
        )
    given = dict(zip(names, node.args, strict=False))
    for keyword in node.keywords:
        if keyword.arg is None or keyword.arg not in names or keyword.arg in given:
            raise call_errors.unexpected_keyword(
                cx.span(keyword), name, keyword.arg or "**"
            )
        given[keyword.arg] = keyword.value
    if names[0] not in given:
        raise call_errors.missing_argument(cx.span(node), name, names[0])
    return given


def written_at(span: Span) -> str:
    """What the user calls at a place, as it is written there."""
    line = linecache.getline(span.file, span.line)[span.column :]
    called = _CALLED.match(line)
    return "a derivative" if called is None else f"`{called[0]}`"


def constant_argument(
    cx: Context, node: ast.expr | None, name: str, default: Any
) -> Any:
    """The value of an argument that has to be known when the program is compiled."""
    if node is None:
        return default
    try:
        return static_value(cx, node)
    except NotStatic:
        raise closure_errors.derivative_argument(
            cx.span(node), f"`{name}`", "this is not known when the program is compiled"
        ) from None


def argument_numbers(
    cx: Context,
    node: ast.expr,
    name: str,
    title: str,
    parameters: Sequence[Parameter],
    argnums: Any,
) -> Argnums:
    """The positions of parameters, from positions and names."""
    names = [p.name for p in parameters]

    def position(argnum: Any) -> int:
        if isinstance(argnum, str) and argnum in names:
            return names.index(argnum)
        if type(argnum) is int and -len(names) <= argnum < len(names):
            return argnum % len(names)
        raise closure_errors.derivative_argument(
            cx.span(node), f"`{name}`", f"{title} has no parameter {argnum!r}"
        )

    if not isinstance(argnums, tuple | list):
        return position(argnums)
    found = tuple(map(position, argnums))
    if not found or len(set(found)) < len(found):
        raise closure_errors.derivative_argument(
            cx.span(node), f"`{name}`", "these are not different parameters"
        )
    return found
