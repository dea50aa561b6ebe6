"""Forms of Python that stand for others, put in their places before anything is read.

    with np.errstate(all="ignore"): a           →   a
    if (n := len(x)) > 2: a                     →   n = len(x)
                                                    if n > 2: a
    while (n := n // 2) > 0: a                  →   while True:
                                                        n = n // 2
                                                        if not n > 0: break
                                                        a
    if p and (y := f(x)) > 0: a                 →   if p:
                                                        y = f(x)
                                                        if y > 0: a
    [y for v in x if (y := f(v)) > 0]           →   [y for v in x
                                                       for y in [f(v)] if y > 0]
    np.mgrid[0:n, 0:1:5j]                       →   np.stack(np.meshgrid(
                                                      np.arange(0, n),
                                                      np.linspace(0, 1, 5), …))

An assignment within an expression is moved before it where nothing changes by that: it
is always evaluated, and what is evaluated before it does not use the name.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np


def desugar(definition: ast.AST, names: Mapping[str, Any]) -> None:
    """Rewrite a definition in place; `names` are those of its module."""
    # Expressions may be deeper than a visitor can go; these forms are rare.
    if any(map(_stands_for_another, ast.walk(definition))):
        _Desugaring(names).visit(definition)


def _stands_for_another(node: ast.AST) -> bool:
    is_grid = isinstance(node, ast.Attribute) and node.attr == "mgrid"
    return is_grid or isinstance(node, ast.With | ast.NamedExpr)


class _Desugaring(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, Any]) -> None:
        self._names = names

    # Statements.

    def visit_With(self, node: ast.With) -> Any:
        """Compiled code follows IEEE 754 without a word, as NumPy does then."""
        self.generic_visit(node)
        return node.body if all(map(self._is_silent, node.items)) else node

    def _is_silent(self, item: ast.withitem) -> bool:
        match item:
            case ast.withitem(
                ast.Call(ast.Attribute(ast.Name(owner), "errstate"), [], options), None
            ):
                says = [getattr(option.value, "value", "") for option in options]
                is_numpy = self._names.get(owner) is np
                return is_numpy and all(word in ("ignore", "warn") for word in says)
            case _:
                return False

    def visit_If(self, node: ast.If) -> Any:
        steps = None if node.orelse else _steps(node.test)
        if steps is None:
            return self._ahead(node, "test")
        self.generic_visit(node)
        body = node.body
        for before, test in reversed(steps):
            body = [*before, _at(node, ast.If(test, body, []))]
        return body

    def visit_Assign(self, node: ast.Assign) -> Any:
        return self._ahead(node, "value")

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        return self._ahead(node, "value")

    def visit_Return(self, node: ast.Return) -> Any:
        return self._ahead(node, "value")

    def visit_Expr(self, node: ast.Expr) -> Any:
        return self._ahead(node, "value")

    def visit_While(self, node: ast.While) -> Any:
        self.generic_visit(node)
        steps = None if any(map(_leaves, node.orelse)) else _steps(node.test)
        if steps is None:
            return node
        body: list[ast.stmt] = []
        for before, test in steps:
            ends = _at(test, ast.UnaryOp(ast.Not(), test))
            leave = [*copy.deepcopy(node.orelse), _at(test, ast.Break())]
            body += [*before, _at(test, ast.If(ends, leave, []))]
        body += node.body
        return _at(node, ast.While(_at(node.test, ast.Constant(True)), body, []))

    def _ahead(self, node: Any, place: str) -> Any:
        """A statement with the assignments in its expression before it."""
        self.generic_visit(node)
        value = getattr(node, place)
        if value is None:
            return node
        before, value = _split(value)
        setattr(node, place, value)
        return [*before, node] if before else node

    # Grids.

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        self.generic_visit(node)
        match node:
            case ast.Subscript(ast.Attribute(ast.Name(owner) as numpy, "mgrid"), parts):
                if self._names.get(owner) is np:
                    return _grid(node, numpy, parts)
        return node

    # Comprehensions.

    def _comprehension(self, node: Any) -> Any:
        self.generic_visit(node)
        found: list[ast.comprehension] = []
        for part in node.generators:
            found.append(ast.comprehension(part.target, part.iter, [], part.is_async))
            for test in part.ifs:
                before, rest = _split(test)
                for each in before:
                    held = _at(each, ast.List([each.value], ast.Load()))
                    found.append(ast.comprehension(each.targets[0], held, [], 0))
                found[-1].ifs.append(rest)
        node.generators = found
        return node

    def visit_ListComp(self, node: ast.ListComp) -> Any:
        return self._comprehension(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> Any:
        return self._comprehension(node)


def _grid(node: ast.Subscript, numpy: ast.Name, parts: ast.expr) -> ast.expr:
    """The coordinates in a grid: in a vector, or an array for each axis, stacked."""
    items = parts.elts if isinstance(parts, ast.Tuple) else [parts]
    axes = [
        _axis(numpy, part)
        for part in items
        if isinstance(part, ast.Slice) and part.upper
    ]
    if len(axes) < len(items):
        return node
    if len(axes) == 1 and not isinstance(parts, ast.Tuple):
        return axes[0]
    indexing = ast.keyword("indexing", _at(node, ast.Constant("ij")))
    if len(axes) == 1:
        return _call(node, numpy, "stack", [_at(node, ast.Tuple(axes, ast.Load()))])
    every = _call(node, numpy, "meshgrid", axes, [_at(node, indexing)])
    return _call(node, numpy, "stack", [every])


def _axis(numpy: ast.Name, part: ast.Slice) -> ast.expr:
    """`low:high:step`; the step may be a number of places, written as in `5j`."""
    low = part.lower or _at(part, ast.Constant(0))
    assert part.upper is not None
    match part.step:
        case ast.Constant(complex() as count):
            size = _at(part, ast.Constant(int(abs(count))))
            return _call(part, numpy, "linspace", [low, part.upper, size])
        case None:
            return _call(part, numpy, "arange", [low, part.upper])
        case step:
            return _call(part, numpy, "arange", [low, part.upper, step])


def _call(
    place: ast.AST,
    numpy: ast.Name,
    name: str,
    args: list[ast.expr],
    keywords: list[ast.keyword] | None = None,
) -> ast.expr:
    function = _at(place, ast.Attribute(numpy, name, ast.Load()))
    made: ast.expr = _at(place, ast.Call(function, args, keywords or []))
    return made


def _at(place: ast.AST, node: Any) -> Any:
    return ast.copy_location(node, place)


def _split(value: ast.expr) -> tuple[list[ast.Assign], ast.expr]:
    """The assignments in an expression, in order, and what is left; none if that may
    not be."""
    before = [_assignment(node) for node in _moved(value) or ()]
    if not before:
        return [], value
    rest = _Named().visit(value)
    for each in before:
        each.value = _Named().visit(each.value)
    return before, rest


def _moved(value: ast.expr) -> list[ast.NamedExpr] | None:
    """The assignments in an expression in their order, or None if they may not be made
    before it."""
    found = [node for node in ast.walk(value) if isinstance(node, ast.NamedExpr)]
    if not found:
        return []
    order = [*_evaluated(value)]
    names = [node.target.id for node in found]
    if len(set(names)) < len(names) or any(node not in order for node in found):
        return None
    for node in found:
        earlier = order[: order.index(node)]
        inner = [*ast.walk(node)]
        if any(
            isinstance(other, ast.Name) and other.id == node.target.id
            for other in earlier
            if other not in inner
        ):
            return None
    return sorted(found, key=order.index)


def _steps(test: ast.expr) -> list[tuple[list[ast.Assign], ast.expr]] | None:
    """The conditions that a test asks for one after another, each with what is assigned
    before; None if nothing is, or something that may not be."""
    match test:
        case ast.BoolOp(ast.And(), values):
            pass
        case _:
            values = [test]
    moved = [_moved(value) for value in values]
    if None in moved or not any(moved):
        return None
    return [_split(value) for value in values]


def _leaves(node: ast.AST) -> bool:
    """Whether a statement may leave the loop around it, or go on with its next step."""
    match node:
        case ast.Break() | ast.Continue():
            return True
        case ast.For() | ast.While():
            return any(map(_leaves, node.orelse))
        case ast.FunctionDef():
            return False
        case _:
            return any(map(_leaves, ast.iter_child_nodes(node)))


def _assignment(node: ast.NamedExpr) -> ast.Assign:
    target = _at(node, ast.Name(node.target.id, ast.Store()))
    made: ast.Assign = _at(node, ast.Assign([target], node.value))
    return made


class _Named(ast.NodeTransformer):
    """Puts the names in the places of assignments."""

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        return ast.copy_location(ast.Name(node.target.id, ast.Load()), node)


def _evaluated(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of an expression that are always evaluated, in that order."""
    match node:
        case ast.BoolOp(_, [first, *_]):
            yield from _evaluated(first)
        case ast.IfExp(test):
            yield from _evaluated(test)
        case ast.Compare(left, _, [first, *_]):
            yield from _evaluated(left)
            yield from _evaluated(first)
        case ast.Lambda() | ast.ListComp() | ast.GeneratorExp() | ast.SetComp():
            pass
        case _:
            for child in ast.iter_child_nodes(node):
                yield from _evaluated(child)
    yield node
