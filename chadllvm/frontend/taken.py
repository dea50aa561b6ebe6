"""Calls in the place of which a list stands: all that they give is taken.

total = sum(odd(n))        →   sum(items)
[f(k) for k in odd(n)]     →   [f(k) for k in items]
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

# What takes all elements of what it is given.
_TAKERS = ("list", "tuple", "sum", "max", "min", "sorted")


class Taken:
    """Finds calls in a statement's expressions of which all elements are taken."""

    def __init__(
        self, is_call: Callable[[ast.AST], bool], list_of: Callable[[Any], ast.Name]
    ) -> None:
        self._is_call, self._list_of = is_call, list_of

    def rewrite(self, node: ast.stmt) -> None:
        """Put lists in their places, where the statement evaluates them first."""
        match node:
            case ast.Assign() | ast.AugAssign() | ast.AnnAssign() | ast.Return():
                places = ["value"]
            case ast.Expr():
                places = ["value"]
            case ast.If():
                places = ["test"]
            case ast.For():
                places = [] if self._is_call(node.iter) else ["iter"]
            case _:
                places = []
        for place in places:
            value = getattr(node, place)
            if value is not None:
                setattr(node, place, self._in(value))

    def _in(self, node: Any) -> Any:
        match node:
            case ast.Call(ast.Name(name), [first, *_]) if name in _TAKERS:
                node.args[0] = self._all(first)
            case ast.ListComp():
                return self._all(node)
            case ast.BoolOp(_, [first, *rest]):
                node.values = [self._in(first), *rest]
                return node
            case ast.IfExp():
                node.test = self._in(node.test)
                return node
            case ast.Lambda() | ast.GeneratorExp() | ast.SetComp() | ast.DictComp():
                return node
            case _:
                pass
        for name, child in ast.iter_fields(node):
            if isinstance(child, ast.expr):
                setattr(node, name, self._in(child))
            elif isinstance(child, list):
                kept = [self._in(c) if isinstance(c, ast.expr) else c for c in child]
                setattr(node, name, kept)
                for word in child:
                    if isinstance(word, ast.keyword):
                        word.value = self._in(word.value)
        return node

    def _all(self, node: Any) -> Any:
        """An argument all of whose elements are taken."""
        if self._is_call(node):
            return self._list_of(node)
        if isinstance(node, ast.ListComp | ast.GeneratorExp):
            first = node.generators[0]
            if self._is_call(first.iter):
                first.iter = self._list_of(first.iter)
        return node
