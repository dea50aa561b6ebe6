"""`heapq`: a heap is a list, whose elements change places as in Python's module.

    heapq.heappush(h, v)    →   h.append(v), and up it goes until what is above is less
    v = heapq.heappop(h)    →   last = h.pop(); v = h[0], and last takes its place:
                                the lesser elements below go up, and it after them
    heapq.heapify(h)        →   the same for each element that has some below
    heapq.nsmallest(k, x)   →   sorted(x)[:k]

Below the element at a place k are those at 2 k + 1 and 2 k + 2.
"""

from __future__ import annotations

import ast
import heapq
from collections.abc import Mapping
from typing import Any

from chadllvm.frontend.written import hides_python, written

_RAISED = """
while at > start:
    above = (at - 1) // 2
    if not last < heap[above]:
        break
    heap[at] = heap[above]
    at = above
heap[at] = last
"""

_PUSHED = f"""
last = value
heap.append(last)
start = 0
at = len(heap) - 1
{_RAISED}
"""

_PLACED = f"""
at = start
below = 2 * at + 1
while below < len(heap):
    if below + 1 < len(heap):
        if not heap[below] < heap[below + 1]:
            below += 1
    heap[at] = heap[below]
    at = below
    below = 2 * at + 1
{_RAISED}
"""


def _inside(text: str, head: str) -> str:
    lines = text.strip().splitlines()
    return head + "".join(f"\n    {line}" for line in lines)


_POPPED = f"""
last = heap.pop()
item = last
start = 0
if len(heap) > 0:
    item = heap[0]
{_inside(_PLACED, "if len(heap) > 0:")}
"""

_ORDERED = _inside(
    "last = heap[start]" + _PLACED, "for start in reversed(range(len(heap) // 2)):"
)


def write_heaps(definition: ast.AST, names: Mapping[str, Any]) -> None:
    """Rewrite a definition in place; `names` are those of its module."""
    used = [names.get(n.id) for n in ast.walk(definition) if isinstance(n, ast.Name)]
    is_used = any(value is heapq or _name_of(value) for value in used)
    if is_used and not hides_python(definition, names):
        _Heaps(names).visit(definition)


def _name_of(value: object) -> str:
    """The name of a function of the module, empty if it is none."""
    functions = ("heappush", "heappop", "heapify", "nsmallest", "nlargest")
    return next((n for n in functions if value is getattr(heapq, n)), "")


class _Heaps(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, Any]) -> None:
        self._names = names

    def _called(self, node: ast.expr) -> tuple[str, list[ast.expr]]:
        """The function of the module that is called, and its arguments."""
        match node:
            case ast.Call(ast.Name(name), args, []):
                return _name_of(self._names.get(name)), args
            case ast.Call(ast.Attribute(ast.Name(owner), name), args, []):
                value = getattr(self._names.get(owner), name, None)
                return _name_of(value), args
            case _:
                return "", []

    def visit_Expr(self, node: ast.Expr) -> Any:
        match self._called(node.value):
            case "heappush", [ast.Name() as heap, value]:
                return self._written(_PUSHED, node, heap, value=self.visit(value))
            case "heappop", [ast.Name() as heap]:
                return self._written(_POPPED, node, heap)
            case "heapify", [ast.Name() as heap]:
                return self._written(_ORDERED, node, heap)
        return self.generic_visit(node)

    def _statement(self, node: Any) -> Any:
        """A statement whose value is what is taken from a heap, or a part of it."""
        owner, part = node, node.value
        while isinstance(part, ast.Subscript | ast.Attribute):
            owner, part = part, part.value
        if part is not None:
            match self._called(part):
                case "heappop", [ast.Name() as heap]:
                    item = ast.Name(_own("item"), ast.Load())
                    owner.value = ast.copy_location(item, part)
                    return [*self._written(_POPPED, node, heap), node]
        return self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> Any:
        return self._statement(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        # What an element's place is made of is read in front of the value.
        is_name = isinstance(node.target, ast.Name)
        return self._statement(node) if is_name else self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> Any:
        return self._statement(node)

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        match self._called(node):
            case ("nsmallest" | "nlargest") as name, [count, items]:
                text = f"sorted(items, reverse={name == 'nlargest'})[:max(count, 0)]"
                (made,) = written(text, _own, node, count=count, items=items)
                assert isinstance(made, ast.Expr)
                return made.value
        return node

    def _written(
        self, text: str, node: ast.stmt, heap: ast.Name, **given: ast.expr
    ) -> list[ast.stmt]:
        return written(text, _own, node, heap=heap, **given)


def _own(name: str) -> str:
    return f"{name} of a heap"
