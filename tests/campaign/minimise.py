"""A failing program → the smallest that fails alike: delta debugging on the tree.

A step leaves statements out, puts the body of a statement in its place, or an operand
in the place of an expression. It is kept if the same oracle still says the same.
"""

from __future__ import annotations

import ast
import copy
import itertools
import time
from collections.abc import Callable, Iterator
from functools import partial

Fails = Callable[[str], bool]
Make = Callable[[], ast.Module]
PLAIN = ("x", "0.5", "a", "k", "1")
SECONDS = 90.0


def minimised(text: str, fails: Fails, seconds: float = SECONDS) -> str:
    """The text made smaller, as long as it fails, for so long at most.

    What did not help is tried again when everything else has been tried.
    """
    end = time.monotonic() + seconds
    tree, changed = ast.parse(text), True
    while changed and time.monotonic() < end:
        changed = False
        for way in WAYS:
            place = 0
            while time.monotonic() < end:
                make = next(itertools.islice(way(tree), place, None), None)
                if make is None:
                    break
                smaller = make()
                if _is_kept(smaller, tree, fails):
                    tree, changed = smaller, True
                else:
                    place += 1
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def _is_kept(smaller: ast.Module, tree: ast.Module, fails: Fails) -> bool:
    try:
        text = ast.unparse(ast.fix_missing_locations(smaller))
        compile(text, "<smaller>", "exec")
    except (SyntaxError, ValueError, TypeError):
        return False
    return len(text) < len(ast.unparse(tree)) and fails(text)


def _bodies(tree: ast.AST) -> list[tuple[int, str]]:
    """Each list of statements: the number of its node, and its field."""
    found = []
    for number, node in enumerate(ast.walk(tree)):
        for name in ("body", "orelse", "cases"):
            if isinstance(getattr(node, name, None), list) and getattr(node, name):
                found.append((number, name))
    return found


def _node(tree: ast.AST, number: int) -> ast.AST:
    return next(node for k, node in enumerate(ast.walk(tree)) if k == number)


def _is_fixed(node: ast.AST) -> bool:
    """What no program does without: the imports, and the arguments."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return True
    return _is_entry(node) or _is_given(node)


def _is_given(node: ast.AST) -> bool:
    names = [getattr(t, "id", "") for t in getattr(node, "targets", [])]
    return "ARGS" in names or "FLAGS" in names


def _without_statements(tree: ast.Module, width: int) -> Iterator[Make]:
    for number, name in _bodies(tree):
        statements = getattr(_node(tree, number), name)
        for start in range(len(statements) - width, -1, -width):
            if not any(map(_is_fixed, statements[start : start + width])):
                yield partial(_cut, tree, number, name, start, width)


def _cut(
    tree: ast.Module, number: int, name: str, start: int, width: int
) -> ast.Module:
    smaller = copy.deepcopy(tree)
    statements = getattr(_node(smaller, number), name)
    del statements[start : start + width]
    if not statements and name == "body":
        statements.append(ast.Pass())
    return smaller


def _unwrapped(tree: ast.Module) -> Iterator[Make]:
    """The body in the place of a branch or a loop."""
    for number, name in _bodies(tree):
        for k, statement in enumerate(getattr(_node(tree, number), name)):
            if not isinstance(statement, ast.If | ast.For | ast.While | ast.Match):
                continue
            inside = [getattr(statement, n, []) for n in ("body", "orelse")]
            inside += [case.body for case in getattr(statement, "cases", [])]
            for body in inside:
                yield partial(_spliced, tree, number, name, k, body)


def _spliced(
    tree: ast.Module, number: int, name: str, place: int, body: list[ast.stmt]
) -> ast.Module:
    smaller = copy.deepcopy(tree)
    getattr(_node(smaller, number), name)[place : place + 1] = copy.deepcopy(body)
    return smaller


def _with_operands(tree: ast.Module) -> Iterator[Make]:
    """An operand, or something plain, in the place of an expression."""
    given = {n for s in tree.body if _is_given(s) for n in ast.walk(s)}
    for number, node in enumerate(ast.walk(tree)):
        for name, value in () if node in given else ast.iter_fields(node):
            items = value if isinstance(value, list) else [value]
            for k, item in enumerate(items):
                if (
                    not isinstance(item, ast.expr)
                    or _is_small(item)
                    or name == "targets"
                ):
                    continue
                place = k if isinstance(value, list) else None
                for other in _operands(item):
                    yield partial(_put, tree, number, name, place, other)


def _is_small(node: ast.expr) -> bool:
    context = getattr(node, "ctx", None)
    return isinstance(node, ast.Name | ast.Constant) or isinstance(context, ast.Store)


def _operands(node: ast.expr) -> Iterator[ast.expr]:
    for plain in PLAIN:
        yield ast.parse(plain, mode="eval").body
    for child in ast.walk(node):
        is_operand = isinstance(child, ast.expr) and not isinstance(child, ast.Slice)
        if child is not node and is_operand:
            yield child


def _put(
    tree: ast.Module, number: int, name: str, place: int | None, value: ast.expr
) -> ast.Module:
    smaller = copy.deepcopy(tree)
    node = _node(smaller, number)
    if place is None:
        setattr(node, name, copy.deepcopy(value))
    else:
        getattr(node, name)[place] = copy.deepcopy(value)
    return smaller


def _without_parameters(tree: ast.Module) -> Iterator[Make]:
    """A parameter of the function less, and its argument."""
    is_aliased = any(
        isinstance(n, ast.Name) and n.id == "A" and isinstance(n.ctx, ast.Load)
        for n in ast.walk(tree)
    )
    entry = next(filter(_is_entry, tree.body))
    for k, parameter in enumerate(entry.args.args):  # type: ignore[attr-defined]
        if not (parameter.arg == "a" and is_aliased):
            yield partial(_without_parameter, tree, k)


def _without_parameter(tree: ast.Module, place: int) -> ast.Module:
    smaller = copy.deepcopy(tree)
    for node in smaller.body:
        if isinstance(node, ast.FunctionDef) and node.name == "f":
            del node.args.args[place]
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "ARGS":
            assert isinstance(node.value, ast.Tuple)
            del node.value.elts[place]
    return smaller


def _is_entry(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name == "f"


WAYS: tuple[Callable[[ast.Module], Iterator[Make]], ...] = (
    partial(_without_statements, width=8),
    partial(_without_statements, width=3),
    partial(_without_statements, width=1),
    _unwrapped,
    _without_parameters,
    _with_operands,
)
