"""How many paths go on after a statement, as far as its syntax tells."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from chadllvm.frontend.surface import is_endless


class Exits:
    """How many paths go on after a statement: 0, 1, or 2 for several.

    Paths are told apart by branches that are left by `return`, `break` or `continue`
    somewhere; a path that raises needs none of what follows, and no other branch needs
    to know of it.
    """

    def __init__(self) -> None:
        self._paths: dict[ast.If, int] = {}

    def paths(self, node: ast.If) -> int:
        """The paths through a branch; 0 also if it has no exits."""
        if node not in self._paths:
            sides = [self._block(nodes) for nodes in (node.body, node.orelse)]
            has_exits = any(found for found, _ in sides)
            total = min(sum(count for _, count in sides), 2)
            self._paths[node] = total if has_exits else -1
        return max(self._paths[node], 0)

    def goes_on(self, nodes: Sequence[ast.stmt]) -> bool:
        """Whether a path through a block reaches its end."""
        return self._block(nodes)[1] > 0

    def _block(self, nodes: Sequence[ast.stmt]) -> tuple[bool, int]:
        """Whether a block has exits, and how many paths reach its end."""
        found, count = False, 1
        for node in nodes:
            match node:
                case ast.Return() | ast.Break() | ast.Continue():
                    return True, 0
                case ast.Raise():
                    return found, 0
                case ast.For() | ast.While():
                    found = found or _returns(node)
                    if _is_endless(node):
                        return found, 0
                case ast.If():
                    paths = self.paths(node)
                    if self._paths[node] >= 0:
                        found, count = True, min(count * paths, 2)
                    elif not self._either_goes_on(node):
                        return found, 0
                case _:
                    pass
        return found, count

    def _either_goes_on(self, node: ast.If) -> bool:
        return self.goes_on(node.body) or self.goes_on(node.orelse)


def _returns(node: ast.stmt) -> bool:
    return any(isinstance(inner, ast.Return) for inner in ast.walk(node))


def _is_endless(node: ast.For | ast.While) -> bool:
    """Whether a loop ends by `return` or not at all."""
    if not isinstance(node, ast.While):
        return False
    return is_endless(node.test) and not _breaks(node.body)


def _breaks(nodes: Sequence[ast.stmt]) -> bool:
    """Whether statements contain a `break` of the loop around them."""
    for node in nodes:
        match node:
            case ast.Break():
                return True
            case ast.If(_, body, orelse):
                if _breaks(body) or _breaks(orelse):
                    return True
            case ast.For(orelse=orelse) | ast.While(orelse=orelse):
                if _breaks(orelse):
                    return True
    return False
