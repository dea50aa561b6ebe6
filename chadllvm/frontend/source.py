"""Where a function's text is, and how its syntax maps to places in the user's file.

The text comes from `support/texts.py`, so files, modules in zip files, notebooks,
doctests and `exec` with a registered text all work. A nested function is parsed with
its indentation as it is, below an `if 1:`; so columns need no correction but the one
from UTF-8 bytes to characters.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
import tokenize
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from types import CodeType, FunctionType, MethodType
from typing import Any

from chadllvm.errors import function_errors
from chadllvm.frontend.desugared import desugar
from chadllvm.frontend.generators import write_out
from chadllvm.frontend.growing import write_growing
from chadllvm.frontend.heaps import write_heaps
from chadllvm.frontend.lifted import lift
from chadllvm.support.diagnostic import CompileError, Span
from chadllvm.support.overloads import is_provided
from chadllvm.support.texts import lines_of

Function = FunctionType

# Where a function that we have written keeps the user's that it is made for.
WRITTEN_FOR = "_chadllvm_written_for"

# Where a function keeps the names of the parameters that it was told to update.
TOLD = "_chadllvm_updates"

Located = ast.expr | ast.stmt | ast.arg | ast.keyword | ast.pattern


def copy_of(function: FunctionType) -> FunctionType:
    """A function like this one, for notes that do not belong to what it was made of."""
    copy = FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__annotations__ = function.__annotations__
    copy.__qualname__ = function.__qualname__
    copy.__module__ = function.__module__
    copy.__doc__ = function.__doc__
    copy.__dict__.update(function.__dict__)
    return copy


@dataclass(frozen=True, eq=False)
class Source:
    """A function and its syntax. `lines` are the user's, the first is `first_line`.

    If `is_local`, the definition stands inside of that of `function`. `place`: where
    the user looks for what happens in a function that we have written.
    """

    function: FunctionType
    definition: ast.FunctionDef
    file: str
    first_line: int
    lines: tuple[str, ...]
    wrapped: bool
    is_local: bool = False
    place: Span | None = None

    @property
    def name(self) -> str:
        return self.definition.name

    @property
    def text(self) -> str:
        """The definition as the user wrote it, without the indentation around it."""
        return textwrap.dedent("".join(self.lines))

    def span(self, node: Located) -> Span:
        """The place of a node in the user's file."""
        if self.place is not None:
            return self.place
        line, end_line = self._line(node.lineno), self._line(node.end_lineno)
        column = self._column(line, node.col_offset)
        end_column = self._column(end_line, node.end_col_offset)
        if isinstance(node, ast.FunctionDef):
            end_line, end_column = line, column + len(f"def {node.name}")
        return Span(self.file, line, column, end_line, end_column, self.name)

    def _line(self, line: int | None) -> int:
        return (line or 1) + self.first_line - 1 - self.wrapped

    def _column(self, line: int, offset: int | None) -> int:
        """The character column of a byte offset into a line's UTF-8 text."""
        text = self.lines[line - self.first_line]
        if text.isascii():
            return offset or 0
        return len(text.encode()[:offset].decode(errors="replace"))


def definition_span(function: Callable[..., Any]) -> Span:
    """The place of a function's definition, when its syntax is not known."""
    code = getattr(function, "__code__", None)
    name = getattr(function, "__name__", repr(function))
    if not isinstance(code, CodeType):
        return Span("<unknown>", 0, 0, 0, 0, name)
    return Span(code.co_filename, code.co_firstlineno, 0, code.co_firstlineno, 0, name)


def _advice(function: Callable[..., Any]) -> Iterator[str]:
    """What to write in the place of something that is no plain function."""
    match function:
        case partial() | MethodType():
            yield "write a function that calls it: `lambda x: ...`"
        case staticmethod():
            yield "write `@staticmethod` above the decorator that compiles"
        case classmethod():
            name = function.__func__.__code__.co_varnames[0]
            yield f"write `@classmethod` above `@cl.jit(static_argnames={name!r})`"


def read_source(function: Callable[..., Any]) -> Source:
    """The syntax of a function written with `def`, or a `CompileError`.

    That of the library's functions is read once: nobody changes it while it runs.
    """
    if not isinstance(function, FunctionType) or not is_lasting(function):
        return _read(function)
    code = function.__code__
    key = code.co_filename, code
    if key not in _library:
        _library[key] = _read(function)
    source = _library[key]
    return source if source.function is function else replace(source, function=function)


# What is known of the library's functions, by their code.
_library: dict[tuple[str, CodeType], Source] = {}


def is_lasting(function: FunctionType) -> bool:
    """Whether a function's text is the library's own."""
    is_ours = is_provided(function) and not hasattr(function, WRITTEN_FOR)
    return is_ours and not STOPS.get()


def _read(function: Callable[..., Any]) -> Source:
    span = definition_span(function)
    if not isinstance(function, FunctionType):
        raise function_errors.not_a_python_function(span, *_advice(function))
    code = function.__code__
    if code.co_name == "<lambda>":
        return _read_lambda(function, span)
    lines = _block(function)
    if lines is None:
        raise function_errors.missing_source(span)
    wrapped = lines[0][:1].isspace()
    node = _parse(lines, wrapped, span)
    if isinstance(node, ast.AsyncFunctionDef):
        raise function_errors.async_function(span)
    if not isinstance(node, ast.FunctionDef) or node.name != code.co_name:
        raise function_errors.changed_source(span)
    _mangle(function, node)
    _stop_at_lines(node, code, int(wrapped))
    write_out(node, function.__globals__)
    desugar(node, function.__globals__)
    write_heaps(node, function.__globals__)
    write_growing(node, function.__globals__)
    lift(node)
    file, first = code.co_filename, code.co_firstlineno
    return Source(function, node, file, first, lines, wrapped, place=_place(function))


# The lines to stop at, by the files as users name them (`chadllvm/api/stepping.py`).
STOPS: ContextVar[frozenset[tuple[str, int]]] = ContextVar("stops", default=frozenset())


def _stop_at_lines(definition: ast.FunctionDef, code: CodeType, moved: int) -> None:
    """Put a `breakpoint()` in front of the statements at these lines."""
    for file, line in STOPS.get():
        at = line - code.co_firstlineno + 1 + moved
        if code.co_filename.endswith(file):
            _stop_at(definition.body, at)


def _stop_at(statements: list[ast.stmt], line: int) -> bool:
    """Whether the line is in one of these; it stops in front of the innermost one."""
    for k, statement in enumerate(statements):
        if not statement.lineno <= line <= (statement.end_lineno or 0):
            continue
        for part in ("body", "orelse"):
            inner = getattr(statement, part, None)
            if isinstance(inner, list) and _stop_at(inner, line):
                return True
        name = ast.copy_location(ast.Name("breakpoint", ast.Load()), statement)
        call = ast.copy_location(ast.Call(name, [], []), statement)
        statements.insert(k, ast.copy_location(ast.Expr(call), statement))
        return True
    return False


def _place(function: FunctionType) -> Span | None:
    """The definition of the function that one was written for."""
    written_for = getattr(function, WRITTEN_FOR, None)
    if written_for is None:
        return None
    try:
        source = read_source(written_for)
    except CompileError:
        return None
    return source.span(source.definition)


def lambda_definition(node: ast.Lambda) -> ast.FunctionDef:
    """A `lambda` as a `def`."""
    body: list[ast.stmt] = [ast.copy_location(ast.Return(node.body), node.body)]
    made = ast.FunctionDef("lambda", node.args, body, [], None)
    return ast.copy_location(made, node)


def _read_lambda(function: FunctionType, span: Span) -> Source:
    """The syntax of a `lambda`, found in its file by the places of its code."""
    code = function.__code__
    lines = tuple(lines_of(function))
    if not lines:
        raise function_errors.missing_source(span)
    try:
        tree = ast.parse("".join(lines))
    except SyntaxError:
        raise function_errors.changed_source(span) from None
    names = (*code.co_varnames[: code.co_argcount + code.co_kwonlyargcount],)
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Lambda) and _is_at(node, names, code)
    ]
    if not found:
        raise function_errors.changed_source(span)
    # The walk comes to outer ones first.
    definition = lambda_definition(found[-1])
    _mangle(function, definition)
    desugar(definition, function.__globals__)
    return Source(function, definition, code.co_filename, 1, lines, False)


def _mangle(function: FunctionType, definition: ast.AST) -> None:
    """Name the private attributes in a class's body as Python does, `_Class__name`."""
    owner = _class_around(function.__qualname__).lstrip("_")
    for node in ast.walk(definition) if owner else ():
        if isinstance(node, ast.Attribute) and re.match(r"__.*(?<!__)$", node.attr):
            node.attr = f"_{owner}{node.attr}"


def _class_around(qualname: str) -> str:
    """The name of the innermost class that a definition is in; empty if in none."""
    names = re.sub(r"[^.]+\.<locals>", "", qualname).split(".")[:-1]
    return next((name for name in reversed(names) if name), "")


def _is_at(node: ast.Lambda, names: tuple[str, ...], code: CodeType) -> bool:
    """Whether code of a function with these parameters is that of a `lambda`."""
    args, body = node.args, node.body
    own = (*args.posonlyargs, *args.args, *args.kwonlyargs)
    start = body.lineno, body.col_offset
    end = body.end_lineno or 0, body.end_col_offset or 0
    return tuple(a.arg for a in own) == names and all(
        start <= (line, column) and (last, stop) <= end
        for line, last, column, stop in code.co_positions()
        if line and last and column is not None and stop
    )


def _block(function: FunctionType) -> tuple[str, ...] | None:
    """The lines of the definition, decorators included, or None if they are unknown."""
    lines = lines_of(function)[function.__code__.co_firstlineno - 1 :]
    if not lines:
        return None
    try:
        return tuple(inspect.getblock(lines))
    except (SyntaxError, tokenize.TokenError):
        return tuple(lines[:1])


def _parse(lines: tuple[str, ...], wrapped: bool, span: Span) -> ast.stmt | None:
    text = "".join(lines)
    try:
        body = ast.parse("if 1:\n" + text if wrapped else text).body
    except (RecursionError, MemoryError):
        raise function_errors.too_deep(span) from None
    except SyntaxError:
        return None
    if wrapped and isinstance(body[0], ast.If):
        body = body[0].body
    return body[0] if body else None
