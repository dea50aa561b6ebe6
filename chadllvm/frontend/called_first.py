"""Calls that change something stand in front of what else a statement does.

    y = x + f(a) * a[0]    →    as = f(a)
                                y = x + as * a[0]
    y = 2 * xs.pop()       →    as = xs[-1]; del xs[-1]
                                y = 2 * as
    y = f(a) if c else x   →    if c: y = f(a)
                                else: y = x

That is so for calls that are surely made, if no part of what they change was read in
the statement before them, nor a name that they assign (`nonlocal`); what any other name
stands for is changed itself. The others stay where they are, and are refused there.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from typing import Any, TypeVar

from chadllvm.errors.update_errors import CHANGING
from chadllvm.frontend.surface import Statement

# Holds a value that a statement names, or uses, more than once or later: a keyword, so
# that no variable is called so.
HELD = "as"

# The expression that a statement computes once, before anything else but what is read.
_VALUES: dict[type[ast.stmt], tuple[str, str]] = {
    ast.Assign: ("value", ""),
    ast.AnnAssign: ("value", ""),
    ast.AugAssign: ("value", "target"),
    ast.Return: ("value", ""),
    ast.Expr: ("value", ""),
    ast.If: ("test", ""),
    ast.Assert: ("test", ""),
    ast.For: ("iter", ""),
}

# Expressions whose parts are computed often, later, or in an order of their own.
_OTHERWISE = (
    *(ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
    *(ast.Compare, ast.Dict, ast.NamedExpr),
)

_Node = TypeVar("_Node", bound=ast.AST)


class CalledFirst:
    """Takes calls out of a statement: `made` are the statements that make them.

    `changed` gives the names that an expression itself changes, None if it is no such
    call, or is not surely one where it is not all of a value; `assigned` those that
    stand for something else then. `call` gives the statements that make one and name
    its result.
    """

    def __init__(
        self,
        changed: Callable[[ast.expr, bool], Collection[str] | None],
        assigned: Callable[[ast.expr], Collection[str]],
        call: Callable[[ast.expr, ast.Name], Sequence[Statement]],
    ) -> None:
        self.made: list[Statement] = []
        self._changed, self._assigned, self._call = changed, assigned, call
        self._count = 0
        # The names of which parts were read, and those that stand alone.
        self._read: set[str] = set()
        self._named: set[str] = set()

    def statement(self, node: ast.stmt) -> ast.stmt:
        """A statement without the calls that stand in front of it."""
        name, read = _VALUES.get(type(node), ("", ""))
        value = getattr(node, name, None)
        if value is None:
            return node
        if isinstance(value, ast.IfExp) and name == "value" and self._calls(value):
            sides = [[_with(node, {name: v})] for v in (value.body, value.orelse)]
            branch = ast.copy_location(ast.If(value.test, *sides), node)
            return self.statement(branch)
        if read:
            target = getattr(node, read)
            self._read |= _names_in(target)
            self._named |= {target.id} if isinstance(target, ast.Name) else set()
        is_call = isinstance(node, ast.Expr) and self._changed(value, True) is not None
        new = self._inside(value) if is_call else self._expr(value, is_all=True)
        return node if new is value else _with(node, {name: new})

    def _calls(self, node: ast.IfExp) -> bool:
        """Whether one of two values changes something."""
        parts = [*ast.walk(node.body), *ast.walk(node.orelse)]
        found = (part for part in parts if isinstance(part, ast.expr))
        return any(self._changed(part, False) is not None for part in found)

    def _expr(self, node: ast.expr, *, is_all: bool = False) -> ast.expr:
        match node:
            case ast.Name(name):
                self._named.add(name)
                return node
            case ast.IfExp(test):
                return self._begun(node, "test", self._expr(test))
            case ast.BoolOp(_, [first, *others]):
                return self._begun(node, "values", [self._expr(first), *others])
            case ast.Attribute(ast.Name(), method) if method in CHANGING:
                return node  # A list is what it is when its method is called.
            case ast.Compare(_, [_]):
                pass
            case ast.Dict(keys) if all(isinstance(k, ast.Constant) for k in keys):
                pass
            case _ if isinstance(node, _OTHERWISE):
                return self._begun(node)
        before, named = {*self._read}, {*self._named}
        new = self._inside(node)
        names = self._changed(new, is_all)
        is_read = names is not None and not before.isdisjoint(names)
        if names is None or is_read or not named.isdisjoint(self._assigned(new)):
            self._read |= _names_in(new)
            return new
        # The arguments are read in front of the statement now.
        self._read, self._named = before, named
        own = f"{HELD} {self._count}" if self._count else HELD
        self._count += 1
        result = ast.copy_location(ast.Name(own, ast.Store()), node)
        self.made += self._call(new, result)
        return ast.copy_location(ast.Name(own, ast.Load()), node)

    def _begun(self, node: ast.expr, name: str = "", value: Any = None) -> ast.expr:
        """An expression of which at most a first part is surely computed now."""
        self._read |= _names_in(node)
        self._named |= _names_in(node)
        return _with(node, {name: value}) if name else node

    def _inside(self, node: ast.expr) -> ast.expr:
        """An expression whose parts are computed in their order, without calls."""
        found: dict[str, Any] = {}
        for name, value in ast.iter_fields(node):
            parts = value if isinstance(value, list) else [value]
            new = [self._part(part) for part in parts]
            if any(a is not b for a, b in zip(new, parts, strict=True)):
                found[name] = new if isinstance(value, list) else new[0]
        return _with(node, found) if found else node

    def _part(self, part: Any) -> Any:
        match part:
            case ast.expr():
                return self._expr(part)
            case ast.keyword(value=value):
                new = self._expr(value)
                return part if new is value else _with(part, {"value": new})
            case _:
                return part


def _names_in(node: ast.expr) -> set[str]:
    """The names of what is read in an expression; by itself a name is none of these."""
    if isinstance(node, ast.Name):
        return set()
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _with(node: _Node, fields: Mapping[str, Any]) -> _Node:
    """A node like this one, but for these fields."""
    new = copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new
