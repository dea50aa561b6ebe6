"""Going on after a mistake, so that one compilation reports them all.

    x = sin(y)            x is POISON: the mistake is reported here, once
    z = 2 * x       →     z is POISON too, silently
    return zz             a mistake of its own: reported

A statement with a mistake makes the names unusable that it would have assigned; what
uses them fails without a word. So does what uses a value of a union behind a question
that could not be asked: it may have told which member it is. Some mistakes are found
when a function is read (`read.py`), the others when it is translated (`statements.py`).
Nothing after the frontend sees a program with mistakes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chadllvm.errors import call_errors, name_errors
from chadllvm.errors.update_errors import CHANGING
from chadllvm.frontend.scope import NotStatic, Unusable
from chadllvm.frontend.surface import Assign, Return, Statement
from chadllvm.support.diagnostic import CompileError, Diagnostic, Span

if TYPE_CHECKING:
    from chadllvm.frontend.context import Context


def _reported(span: Span) -> CompileError:
    """The error of what depends on a mistake: there is nothing more to say."""
    return CompileError()


# A variable whose value is not known, because of a mistake that has been reported.
POISON = Unusable(_reported)


class Broken(ast.expr):
    """The value of a statement that could not be read."""


class Mistakes:
    """The mistakes found so far, each rule at most once at a place."""

    def __init__(self, others: Mistakes | None = None) -> None:
        self._found: dict[tuple[str, Span], Diagnostic] = {}
        if others is not None:
            self._found.update(others._found)

    def __bool__(self) -> bool:
        return bool(self._found)

    def add(self, error: CompileError) -> None:
        for diagnostic in error.diagnostics:
            self._found.setdefault((diagnostic.code, diagnostic.span), diagnostic)

    def count(self) -> int:
        return len(self._found)

    def forget(self, count: int) -> None:
        """Leave only the first ones: what gave the others is translated again."""
        self._found = dict(list(self._found.items())[:count])

    def error(self) -> CompileError:
        """All of them in the order of the source, file by file as they were met."""
        files = {d.span.file: None for d in self._found.values()}
        order = {file: position for position, file in enumerate(files)}
        found = self._found.values()
        return CompileError(*sorted(found, key=lambda d: (order[d.span.file], d.span)))


def unknown_names(cx: Context, expression: ast.expr) -> Iterator[CompileError]:
    """The names in an expression that stand for nothing, here or anywhere outside."""
    inside = {name for node in ast.walk(expression) for name in _bound(node)}
    for node in ast.walk(expression):
        match node:
            case ast.Name(name) if name not in inside and not cx.is_local(name):
                if not _is_known(cx, node):
                    yield name_errors.unknown_name(cx.span(node), name, cx.names())
            case ast.Attribute(owner) if cx.is_module(owner):
                if not _is_known(cx, node):
                    yield unknown_in_module(cx, node)
            case _:
                pass


def unknown_in_module(cx: Context, node: ast.Attribute) -> CompileError:
    """The error of an attribute of a module that is not one of the language."""
    span, module = cx.span(node), cx.static(node.value)
    if hasattr(module, node.attr):
        return call_errors.unknown_function(span, ast.unparse(node))
    owner = f"`{ast.unparse(node.value)}`"
    return name_errors.unknown_attribute(span, owner, node.attr, vars(module))


def _bound(node: ast.AST) -> Iterator[str]:
    """The names that a part of an expression binds for other parts."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif isinstance(node, ast.arg):
        yield node.arg


def _is_known(cx: Context, name: ast.expr) -> bool:
    try:
        cx.static(name)
    except NotStatic:
        return False
    return True


def broken(node: ast.stmt) -> tuple[Statement, ...]:
    """What stands for a statement that cannot be read: its names are unusable."""
    value = ast.copy_location(Broken(), node)
    names = dict.fromkeys(_assigned(node))
    targets = [ast.copy_location(ast.Name(n, ast.Store()), node) for n in names]
    return tuple(Assign(target, value, node) for target in targets)


def broken_return(node: ast.stmt) -> Return:
    """The result of a function some of whose statements could not be read."""
    return Return(ast.copy_location(Broken(), node), node)


def asks_for_type(test: ast.expr) -> bool:
    """Whether a condition is about types: a branch may be wrong where it fails."""
    return any(
        isinstance(node, ast.Is | ast.IsNot)
        or (isinstance(node, ast.Name) and node.id in _TYPE_QUESTIONS)
        for node in ast.walk(test)
    )


_TYPE_QUESTIONS = ("isinstance", "issubclass", "hasattr", "callable", "type")


def _assigned(node: ast.stmt) -> Iterator[str]:
    """The names that a statement may change, whatever it is."""
    for inner in ast.walk(node):
        match inner:
            case ast.Name(name, ast.Store() | ast.Del()):
                yield name
            case ast.Call(ast.Attribute(ast.Name(name), method)) if method in CHANGING:
                yield name
            case (
                ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name)
            ):
                yield name
            case ast.ExceptHandler(_, str(name)) | ast.MatchAs(_, str(name)):
                yield name
            case ast.Global(names) | ast.Nonlocal(names):
                yield from names
            case ast.alias(name, renamed):
                yield renamed or name.partition(".")[0]
            case _:
                pass
