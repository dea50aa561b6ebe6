"""The single faults that a module may have, and the module with one of them.

    sign          a + b, a * b, -a          a - b, a / b, a
    constant      i + 1, x[0]               i + 2, x[1]
    comparison    a < b, a is b             a <= b, a is not b
    condition     if c, a and b             if not c, a or b
    operation     "add", "min"              "sub", "max"
    dropped       f(x), a += b              pass

A fault is in the body of a function: not in its annotations, nor in what it raises or
asserts. Faults are numbered in the order in which a walk of the syntax tree finds them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from itertools import islice

_SIGNS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
}

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}

_PAIRS = (
    ("add", "sub"),
    ("iadd", "isub"),
    ("mul", "div"),
    ("min", "max"),
    ("imin", "imax"),
    ("minimum", "maximum"),
    ("lt", "le"),
    ("ilt", "ile"),
    ("sin", "cos"),
    ("and", "or"),
)
_OPERATIONS = {**dict(_PAIRS), **{b: a for a, b in _PAIRS}}


@dataclass(frozen=True)
class Site:
    """A fault: its number in the module, and how it is told."""

    number: int
    kind: str
    line: int
    before: str
    after: str


def sites(source: str) -> list[Site]:
    """All faults that a module may have."""
    return [
        Site(number, kind, node.lineno, _told(node), _told(new))
        for number, (node, kind, new) in enumerate(_faults(ast.parse(source)))
    ]


def mutated(source: str, number: int) -> ast.Module:
    """The module with the fault of this number."""
    tree = ast.parse(source)
    node, _, new = next(islice(_faults(tree), number, None))
    changed = _Replacing(node, ast.copy_location(new, node)).visit(tree)
    assert isinstance(changed, ast.Module)
    return ast.fix_missing_locations(changed)


def _told(node: ast.stmt | ast.expr) -> str:
    return ast.unparse(node).splitlines()[0]


# The name by which a module knows its lines that have run.
NAME = "__lines_that_ran__"


def statements(tree: ast.Module) -> dict[int, int]:
    """For each line, the one where the innermost statement around it begins."""
    found: dict[int, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            assert node.end_lineno is not None
            lines = range(node.lineno, node.end_lineno + 1)
            found.update(dict.fromkeys(lines, node.lineno))
    return found


def marked(source: str) -> ast.Module:
    """The module, whose functions say of each statement that it runs."""
    tree = ast.parse(source)
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            _mark(function)
    return ast.fix_missing_locations(tree)


def _mark(function: ast.FunctionDef) -> None:
    for node in _own(function):
        for name, part in ast.iter_fields(node):
            if isinstance(part, list) and part and isinstance(part[0], ast.stmt):
                setattr(node, name, [s for stmt in part for s in _told_of(stmt)])


def _own(function: ast.FunctionDef) -> list[ast.AST]:
    """What is in a function, but not in others in it."""
    found: list[ast.AST] = [function]
    for node in found:
        found += [
            child
            for child in ast.iter_child_nodes(node)
            if not isinstance(child, ast.FunctionDef)
        ]
    return found


def _told_of(stmt: ast.stmt) -> list[ast.stmt]:
    """A statement, and before it that it runs; a docstring stays the first."""
    if isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Constant):
        return [stmt]
    [mark] = ast.parse(f"{NAME}[{stmt.lineno}] = 1").body
    for node in ast.walk(mark):
        ast.copy_location(node, stmt)
    return [mark, stmt]


class _Replacing(ast.NodeTransformer):
    """Puts one node in the place of another."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        if node is self.old:
            return self.new
        self.generic_visit(node)
        return node


_Fault = tuple[ast.stmt | ast.expr, str, ast.stmt | ast.expr]


def _faults(tree: ast.Module) -> Iterator[_Fault]:
    for node in _inside(tree, in_function=False):
        if isinstance(node, ast.stmt):
            yield from _of_statement(node)
        elif isinstance(node, ast.expr):
            yield from _of_expression(node)


def _inside(node: ast.AST, in_function: bool) -> Iterator[ast.AST]:
    """What functions do: not what they are annotated with, and not how they fail."""
    if _is_failure(node):
        return
    if in_function:
        yield node
    match node:
        case ast.FunctionDef(body=body):
            for part in body:
                yield from _inside(part, True)
        case ast.AnnAssign(value=value):
            if value is not None:
                yield from _inside(value, in_function)
        case _:
            for child in ast.iter_child_nodes(node):
                yield from _inside(child, in_function)


def _is_failure(node: ast.AST) -> bool:
    match node:
        case ast.Raise() | ast.Assert() | ast.JoinedStr() | ast.Import():
            return True
        case ast.Expr(ast.Call(ast.Name("assert_never"))):
            return True
        case _:
            return False


def _of_statement(node: ast.stmt) -> Iterator[_Fault]:
    match node:
        case ast.Expr(ast.Call() | ast.YieldFrom() | ast.Yield()) | ast.AugAssign():
            yield node, "dropped", ast.Pass()
        case ast.If(test=test) | ast.While(test=test):
            new = deepcopy(node)
            assert isinstance(new, ast.If | ast.While)
            new.test = ast.UnaryOp(ast.Not(), test)
            yield node, "condition", new


def _of_expression(node: ast.expr) -> Iterator[_Fault]:
    match node:
        case ast.BinOp(left, op, right) if type(op) in _SIGNS:
            yield node, "sign", ast.BinOp(left, _SIGNS[type(op)](), right)
        case ast.UnaryOp(ast.USub(), operand):
            yield node, "sign", operand
        case ast.Compare(left, [op], right):
            yield (
                node,
                "comparison",
                ast.Compare(left, [_COMPARISONS[type(op)]()], right),
            )
        case ast.BoolOp(op, values):
            other = ast.Or() if isinstance(op, ast.And) else ast.And()
            yield node, "condition", ast.BoolOp(other, values)
        case ast.IfExp(test, body, orelse):
            yield node, "condition", ast.IfExp(test, orelse, body)
        case ast.Constant(bool()):
            yield node, "condition", ast.Constant(not node.value)
        case ast.Constant(int(value)):
            yield node, "constant", ast.Constant(value + 1)
        case ast.Constant(str(value)) if value in _OPERATIONS:
            yield node, "operation", ast.Constant(_OPERATIONS[value])
