"""`raise` and `assert`: the exceptions that a function may end with.

raise ValueError(f"{n} steps")    →   require[ValueError "{0} steps"](false, n)
assert x > 0, "x is negative"     →   require[AssertionError "x is negative"](c)
"""

from __future__ import annotations

import ast
from enum import Enum

from chadllvm.errors import name_errors, statement_errors
from chadllvm.frontend.context import Context
from chadllvm.frontend.scope import NotStatic
from chadllvm.frontend.static import known_value, static_value
from chadllvm.frontend.surface import Raise
from chadllvm.ir.loops_check import MAX_VALUES
from chadllvm.ir.term import Lit, Operand
from chadllvm.ir.types import Scalar
from chadllvm.ops.require import Require, exception_class


def fail(cx: Context, statement: Raise) -> None:
    """Emit what raises the exception."""
    require(cx, statement, Lit(False))


def require(cx: Context, statement: Raise, holds: Operand) -> None:
    """Raise the exception unless a condition holds; the message is made in any case."""
    kind = _kind(cx, statement)
    message, values = _message(cx, statement.message)
    cx.at(statement.node).apply(Require(kind, message), [holds, *values])


def is_constant(statement: Raise) -> bool:
    """Whether nothing has to be computed for the message."""
    message = statement.message
    return message is None or isinstance(message, ast.Constant)


def _kind(cx: Context, statement: Raise) -> str:
    """The name of the exception class."""
    if statement.error is None:
        return "AssertionError"
    span, shown = cx.span(statement.error), ast.unparse(statement.error)
    try:
        found = cx.static(statement.error)
    except NotStatic:
        raise name_errors.unknown_exception(span, shown) from None
    name = getattr(found, "__name__", "")
    if not isinstance(found, type) or exception_class(name) is not found:
        raise name_errors.unknown_exception(span, shown)
    return name


def _message(cx: Context, node: ast.expr | None) -> tuple[str, list[Operand]]:
    """The message as a format string, and the values in it."""
    match node:
        case None:
            return "", []
        case ast.Constant(str() as text):
            return _escaped(text), []
        case ast.JoinedStr(parts):
            return _formatted(cx, node, parts)
        case _ if isinstance(known := known_value(cx, node), str):
            return _escaped(known), []
        case _:
            raise statement_errors.unusual_message(cx.span(node))


def _formatted(
    cx: Context, node: ast.expr, parts: list[ast.expr]
) -> tuple[str, list[Operand]]:
    """An f-string; `{x!r:.3f}` means the same in a format string."""
    text = ""
    values: list[Operand] = []
    for part in parts:
        match part:
            case ast.Constant(str() as constant):
                text += _escaped(constant)
            case ast.FormattedValue() if (known := _known_text(cx, part)) is not None:
                text += _escaped(known)
            case ast.FormattedValue(value, conversion, spec):
                text += _field(cx, len(values), conversion, spec)
                values.append(_shown(cx, value))
            case _:
                raise statement_errors.unusual_message(cx.span(part))
    if len(values) > MAX_VALUES:
        raise statement_errors.unusual_message(cx.span(node))
    return text, values


def _known_text(cx: Context, part: ast.FormattedValue) -> str | None:
    """What is shown of a string or of another static argument that is no number."""
    try:
        found = static_value(cx, part.value)
    except NotStatic:
        return None
    if not isinstance(found, str | Enum | None):
        return None
    match part.format_spec:
        case None | ast.JoinedStr([]):
            spec = ""
        case ast.JoinedStr([ast.Constant(str() as spec)]):
            pass
        case _:
            return None
    shown = f"!{chr(part.conversion)}" if part.conversion > 0 else ""
    return f"{{{shown}:{spec}}}".format(found)


def _field(cx: Context, k: int, conversion: int, spec: ast.expr | None) -> str:
    shown = f"!{chr(conversion)}" if conversion > 0 else ""
    match spec:
        case None | ast.JoinedStr([]):
            return f"{{{k}{shown}}}"
        case ast.JoinedStr([ast.Constant(str() as text)]):
            return f"{{{k}{shown}:{text}}}"
        case _:
            raise statement_errors.unusual_message(cx.span(spec))


def _shown(cx: Context, node: ast.expr) -> Operand:
    value = cx.value(node)
    if not isinstance(value.type, Scalar):
        raise statement_errors.unusual_message(cx.span(node))
    return value


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")
