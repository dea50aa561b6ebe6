"""The text of a Python function, and the names in it that stand for what is outside.

The frontend finds a function's text by its code, reads its syntax, and looks names up
as it comes to them. Here the same text is found in less time, and *all* names that the
frontend could look up: a few too many do no harm, for `reach.py` only tells whether
what they stand for is what it was.

The text of a `def` goes as far as its block, that of a `lambda` is its whole file, as
it is found there by its place. Where this is not as simple as that there is no anatomy.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import NamedTuple

from chadllvm.support.texts import lines_of

# A dotted name: `np.linalg.solve` is ("np", "linalg", "solve").
Chain = tuple[str, ...]


class Anatomy(NamedTuple):
    """The lines of a function, from `first` on, and the names that it looks up."""

    lines: tuple[str, ...]
    first: int
    chains: tuple[Chain, ...]


# What was found for a code, with the lines of the file that it was found in.
_FOUND: dict[tuple[str, CodeType], tuple[list[str], Anatomy | None]] = {}
_MOST = 4096


def anatomy(function: FunctionType) -> Anatomy | None:
    """The anatomy of a function; None if it cannot be told."""
    code, lines = function.__code__, lines_of(function)
    # Equal codes may be of different files.
    key = code.co_filename, code
    before, found = _FOUND.get(key, (None, None))
    if before is not lines:
        found = _anatomy(code, lines)
        if len(_FOUND) >= _MOST:
            _FOUND.clear()
        _FOUND[key] = lines, found
    return found


def chains_in(text: str) -> list[Chain]:
    """The names in an expression.

    Raises:
        SyntaxError: if it is none.
    """
    return [*_chains(ast.parse(text, mode="eval"))]


def _anatomy(code: CodeType, lines: list[str]) -> Anatomy | None:
    try:
        if code.co_name == "<lambda>":
            return _of_lambda(code, lines)
        return _of_definition(code, lines)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _of_definition(code: CodeType, lines: list[str]) -> Anatomy | None:
    block = _block(code, lines)
    if not block:
        return None
    is_inside = block[0][:1].isspace()
    body = ast.parse("if 1:\n" + "".join(block) if is_inside else "".join(block)).body
    if is_inside and isinstance(body[0], ast.If):
        body = body[0].body
    # A block that was cut too short, within brackets or a string, is no definition.
    if len(body) != 1 or not isinstance(body[0], ast.FunctionDef):
        return None
    definition = body[0]
    if definition.name != code.co_name:
        return None
    # Decorators, defaults and annotations are evaluated already.
    args = definition.args
    args.defaults, args.kw_defaults = [], []
    for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs):
        arg.annotation = None
    definition.decorator_list, definition.returns = [], None
    return Anatomy(tuple(block), code.co_firstlineno, _outside(definition, code))


def _block(code: CodeType, lines: list[str]) -> list[str]:
    """The lines of a definition: up to one after its code that stands no deeper."""
    first, end = code.co_firstlineno - 1, _last_line(code)
    if not lines[first:]:
        return []
    depth = _depth(lines[first])
    while end < len(lines):
        text = lines[end].strip()
        if text and not text.startswith("#") and _depth(lines[end]) <= depth:
            break
        end += 1
    return lines[first:end]


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _last_line(code: CodeType) -> int:
    last = max((line for _, _, line in code.co_lines() if line), default=1)
    return max([last, *map(_last_line, _inner(code))])


def _inner(code: CodeType) -> list[CodeType]:
    return [c for c in code.co_consts if isinstance(c, CodeType)]


def _of_lambda(code: CodeType, lines: list[str]) -> Anatomy | None:
    """All that stand on its line are taken together."""
    found = [
        node
        for node in ast.walk(ast.parse("".join(lines)))
        if isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno
    ]
    for node in found:
        node.args.defaults, node.args.kw_defaults = [], []
    whole = ast.Tuple([*found], ast.Load())
    return Anatomy(tuple(lines), 1, _outside(whole, code)) if found else None


def _outside(node: ast.AST, code: CodeType) -> tuple[Chain, ...]:
    """The names that a function has not for itself.

    Of its own names some may be those of globals as well, where an inner function has
    them. Its code says which; but it does not know of what is never run.
    """
    every = [*ast.walk(node)]
    if any(isinstance(part, ast.Global) for part in every):
        raise ValueError("a name that is both")
    own = set() if any(map(_is_decided, every)) else _locals(code) - _known(code)
    found = dict.fromkeys(_chains(node))
    return tuple([chain for chain in found if chain[0] not in own])


def _locals(code: CodeType) -> set[str]:
    names = {*code.co_varnames, *code.co_cellvars}
    return names.union(*map(_locals, _inner(code)))


def _known(code: CodeType) -> set[str]:
    """The names that a code looks up, and those of attributes."""
    names = set(code.co_names)
    return names.union(*map(_known, _inner(code)))


def _is_decided(node: ast.AST) -> bool:
    """Whether Python may leave something out that stands in the text."""
    match node:
        case ast.Assert():
            return not __debug__
        case ast.While(ast.Constant(True), orelse=[]):
            return False
        case ast.If(test) | ast.While(test) | ast.IfExp(test):
            names = [n.id for n in ast.walk(test) if isinstance(n, ast.Name)]
            return all(name == "__debug__" for name in names)
        case _:
            return False


def _chains(node: ast.AST) -> Iterator[Chain]:
    """All names, with what stands behind their dots; in texts of annotations too."""
    for part in ast.walk(node):
        match part:
            case ast.Name() | ast.Attribute():
                chain = _chain(part)
                if chain:
                    yield chain
            case (
                ast.AnnAssign(annotation=annotation)
                | ast.arg(annotation=annotation)
                | ast.FunctionDef(returns=annotation)
            ) if annotation is not None:
                yield from _texts(annotation)


def _texts(annotation: ast.expr) -> Iterator[Chain]:
    for part in ast.walk(annotation):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield from chains_in(part.value)


def _chain(node: ast.expr) -> Chain:
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return (node.id, *reversed(names)) if isinstance(node, ast.Name) else ()
