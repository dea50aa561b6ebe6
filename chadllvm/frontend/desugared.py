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
    np.block([[a, b], [c, d]])                  →   np.concatenate([
                                                      np.concatenate([a, b], axis=1),
                                                      …], axis=0)
    for x, y in itertools.product(xs, ys): a    →   for p in xs:
                                                        for q in ys:
                                                            x, y = p, q
                                                            a
    [a for x, y in itertools.product(xs, ys)]   →   [a for x in xs for y in ys]
    [a for x, y in itertools.combinations(       →   [a for i, x in enumerate(xs)
       xs, 2)]                                        for y in xs[i + 1:]]
    for x, y in itertools.pairwise(xs): a       →   for x, y in zip(xs, xs[1:]): a

An assignment within an expression is moved before it where nothing changes by that: it
is always evaluated, and what is evaluated before it does not use the name.
"""

from __future__ import annotations

import ast
import builtins
import copy
import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np


def desugar(definition: ast.AST, names: Mapping[str, Any]) -> None:
    """Rewrite a definition in place; `names` are those of its module."""
    # Expressions may be deeper than a visitor can go; these forms are rare.
    if any(map(_stands_for_another, ast.walk(definition))):
        _Desugaring(names).visit(definition)


def _stands_for_another(node: ast.AST) -> bool:
    match node:
        case ast.Attribute(_, name) | ast.Name(name):
            return name in ("mgrid", "block", *_PAIRS)
        case _:
            return isinstance(node, ast.With | ast.NamedExpr)


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
        ends = (ast.Break, ast.Continue)
        leaves = any(_leaves(statement, *ends) for statement in node.orelse)
        steps = None if leaves else _steps(node.test)
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

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        match node:
            case ast.Call(ast.Attribute(numpy, "block"), [ast.List(rows)], []):
                if rows and self._is(node.func, np.block):
                    return _blocks(node, numpy, rows)
        return node

    def _is(self, node: ast.expr, function: object) -> bool:
        """Whether an expression names this function of another module."""
        match node:
            case ast.Name(name):
                return self._names.get(name) is function
            case ast.Attribute(ast.Name(owner), name):
                return getattr(self._names.get(owner), name, None) is function
            case _:
                return False

    # Pairs.

    def visit_For(self, node: ast.For) -> Any:
        self.generic_visit(node)
        parts = node.target.elts if isinstance(node.target, ast.Tuple) else []
        # Python binds the targets where there is a pair, and steps may assign them.
        at = f"{node.lineno}.{node.col_offset}"
        names = [f"{k}.{at}" for k in range(len(parts))]
        hidden = ast.Tuple([ast.Name(n, ast.Store()) for n in names], ast.Store())
        clauses = self._pairs(_placed(node.target, hidden), node.iter)
        breaks = any(_leaves(statement, ast.Break) for statement in node.body)
        if clauses is None or node.orelse or breaks or self._changes(node):
            return node
        pair = ast.Tuple([_load(name) for name in names], ast.Load())
        bound = ast.Assign([node.target], pair)
        body = [_placed(node, bound), *node.body]
        for target, source in reversed(clauses):
            body = [_at(node, ast.For(target, source, body, []))]
        return body

    def _changes(self, node: ast.For) -> bool:
        """Whether a loop may change what it runs over, which Python has copied."""
        used = {n.id for n in ast.walk(node.iter) if isinstance(n, ast.Name)}
        every = [inner for statement in node.body for inner in ast.walk(statement)]
        return any(self._may_change(inner, used) for inner in every)

    def _may_change(self, node: ast.AST, names: set[str]) -> bool:
        match node:
            case ast.Name(name, ast.Store()):
                return name in names
            case ast.Subscript(value, _, ast.Store()) | ast.Attribute(
                value, _, ast.Store()
            ):
                return any(_is_named(inner, names) for inner in ast.walk(value))
            case ast.Expr(ast.Call() as call):
                return any(_is_named(inner, names) for inner in ast.walk(call))
            case ast.Call(ast.Attribute(owner)) if _is_named(owner, names):
                return True
            case ast.Call(ast.Name(function), args):
                is_users = not hasattr(builtins, function)
                return is_users and any(_is_named(arg, names) for arg in args)
            case _:
                return False

    def _pairs(
        self, target: ast.expr, source: ast.expr
    ) -> list[tuple[ast.expr, ast.expr]] | None:
        """The loops in each other that a loop over a function of `itertools` is."""
        match target, source:
            case ast.Tuple(targets), ast.Call(function, args, []) if not any(
                isinstance(part, ast.Starred) for part in targets
            ):
                pass
            case _:
                return None
        if self._is(function, itertools.product):
            is_alike = len(targets) == len(args) and all(map(_is_repeatable, args[1:]))
            return [*zip(targets, args, strict=True)] if is_alike else None
        if not args or len(targets) != 2 or not _is_repeatable(args[0]):
            return None
        if self._is(function, itertools.pairwise):
            parts = [args[0], _rest(source, args[0], ast.Constant(0))]
            zipped = ast.Call(_load("zip"), parts, [])
            return [(target, _placed(source, zipped))]
        is_two = ast.unparse(args[-1]) == "2"
        if self._is(function, itertools.combinations) and is_two:
            return _combinations(source, targets[0], targets[1], args[0])
        return None

    # Comprehensions.

    def _comprehension(self, node: Any) -> Any:
        self.generic_visit(node)
        found: list[ast.comprehension] = []
        for part in self._clauses(node.generators):
            found.append(ast.comprehension(part.target, part.iter, [], part.is_async))
            for test in part.ifs:
                before, rest = _split(test)
                for each in before:
                    held = _at(each, ast.List([each.value], ast.Load()))
                    found.append(ast.comprehension(each.targets[0], held, [], 0))
                found[-1].ifs.append(rest)
        node.generators = found
        return node

    def _clauses(self, clauses: list[ast.comprehension]) -> list[ast.comprehension]:
        """The clauses, with those over pairs as two; the last one has the tests."""
        found: list[ast.comprehension] = []
        for clause in clauses:
            pairs = self._pairs(clause.target, clause.iter)
            parts = pairs or [(clause.target, clause.iter)]
            found += [ast.comprehension(*each, [], clause.is_async) for each in parts]
            found[-1].ifs = clause.ifs
        return found

    def visit_ListComp(self, node: ast.ListComp) -> Any:
        return self._comprehension(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> Any:
        return self._comprehension(node)


def _is_named(node: ast.AST, names: set[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in names


def _is_repeatable(node: ast.expr) -> bool:
    """Whether an expression may be evaluated again and again: a name, or a range."""
    match node:
        case ast.Name() | ast.Constant():
            return True
        case ast.Attribute(owner):
            return _is_repeatable(owner)
        case ast.Call(ast.Name("range" | "len"), args, []):
            return all(map(_is_repeatable, args))
        case _:
            return False


# The functions of `itertools` that are other loops.
_PAIRS = ("product", "combinations", "pairwise")


def _combinations(
    place: ast.expr, first: ast.expr, second: ast.expr, items: ast.expr
) -> list[tuple[ast.expr, ast.expr]] | None:
    """Loops over the elements and those after them; of a range, over its numbers."""
    match items:
        case ast.Call(ast.Name("range"), [*low, high], []):
            if not isinstance(first, ast.Name) or len(low) > 1:
                return None
            after = ast.BinOp(_load(first.id), ast.Add(), ast.Constant(1))
            numbers = ast.Call(_load("range"), [after, high], [])
            return [(first, items), (second, _placed(place, numbers))]
        case ast.Call():
            return None
    index = f"{ast.unparse(first)}.at"
    target = ast.Tuple([ast.Name(index, ast.Store()), first], ast.Store())
    numbered = ast.Call(_load("enumerate"), [items], [])
    outer = _placed(place, target), _placed(place, numbered)
    return [outer, (second, _rest(place, items, _load(index)))]


def _rest(place: ast.expr, items: ast.expr, index: ast.expr) -> ast.expr:
    """What comes behind an index."""
    start = ast.BinOp(index, ast.Add(), ast.Constant(1))
    rest = ast.Subscript(items, ast.Slice(start), ast.Load())
    return ast.fix_missing_locations(ast.copy_location(rest, place))


def _load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _placed(place: ast.expr | ast.stmt, node: Any) -> Any:
    return ast.fix_missing_locations(_at(place, node))


def _blocks(node: ast.Call, numpy: ast.expr, rows: list[ast.expr]) -> ast.expr:
    """Arrays joined along the last axis; if they are in rows, these on each other."""
    lists = [row for row in rows if isinstance(row, ast.List)]
    if len(lists) < len(rows):
        return _joined(node, numpy, rows, -1)
    parts = [
        _joined(node, numpy, [_call(e, numpy, "atleast_2d", [e]) for e in row.elts], 1)
        for row in lists
    ]
    return _joined(node, numpy, parts, 0)


def _joined(
    node: ast.Call, numpy: ast.expr, parts: list[ast.expr], axis: int
) -> ast.expr:
    along = _at(node, ast.keyword("axis", _at(node, ast.Constant(axis))))
    listed = _at(node, ast.List(parts, ast.Load()))
    return _call(node, numpy, "concatenate", [listed], [along])


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
    numpy: ast.expr,
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


def _leaves(node: ast.AST, *by: type[ast.stmt]) -> bool:
    """Whether a statement may leave a step of the loop around it by one of these."""
    match node:
        case ast.For() | ast.While():
            return any(_leaves(inner, *by) for inner in node.orelse)
        case ast.FunctionDef():
            return False
        case _:
            inside = ast.iter_child_nodes(node)
            return isinstance(node, by) or any(_leaves(inner, *by) for inner in inside)


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
