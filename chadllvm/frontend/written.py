"""Statements of the language that stand for a statement of the user's.

They are written as a text. Its names become variables that no user can name, or are
given expressions; all that is made of it is at the place of the user's statement.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Collection, Mapping

# The names in a text that are Python's.
KEPT = frozenset(
    {
        *("len", "sum", "min", "max", "any", "all", "sorted", "list", "tuple", "set"),
        *("enumerate", "zip", "reversed", "range", "int", "float", "abs", "round"),
        "IndexError",
    }
)


def hides_python(definition: ast.AST, names: Collection[str]) -> bool:
    """Whether one of these names is not Python's, in a definition or its module."""
    every = (node for node in ast.walk(definition) if isinstance(node, ast.Name))
    own = {node.id for node in every if not isinstance(node.ctx, ast.Load)}
    return not KEPT.isdisjoint({*own, *names})


def written(
    text: str, own: Callable[[str], str], place: ast.AST, **given: ast.expr
) -> list[ast.stmt]:
    """Statements with names of their own, but for those that are given."""
    tree = _Filled(own, given, place).visit(ast.parse(text))
    assert isinstance(tree, ast.Module)
    return tree.body


class _Filled(ast.NodeTransformer):
    """Puts names and expressions into a text."""

    def __init__(
        self, own: Callable[[str], str], given: Mapping[str, ast.expr], place: ast.AST
    ) -> None:
        self._own, self._given, self._place = own, given, place

    def visit(self, node: ast.AST) -> ast.AST:
        if hasattr(node, "lineno"):
            ast.copy_location(node, self._place)
        if not isinstance(node, ast.Name):
            return self.generic_visit(node)
        if node.id in self._given:
            return copy.deepcopy(self._given[node.id])
        if node.id not in KEPT:
            node.id = self._own(node.id)
        return node
