"""The environment map (§4.1): a persistent map from positions in a scope to cotangents.

Every function is given what to pay: one step for each node it visits. `empty` is None,
and `push` changes the type only, so that neither is a function; `get`, `modify` and
`pop` visit O(log n) nodes, `union` O(m log(n/m + 1)) for m entries and n more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from chadllvm.paper.linear import Pay, free


@dataclass(frozen=True, slots=True)
class Tree:
    """A persistent map from positions in a scope: left keys < key < right keys.

    It is balanced by size: no subtree is more than three times as large as its sibling.
    """

    key: int
    value: Any
    left: Tree | None = None
    right: Tree | None = None
    size: int = 1


Map = Tree | None
Combine = Callable[[int, Any, Any], Any]

_BALANCE = 3


def size(tree: Map) -> int:
    """The number of entries."""
    return tree.size if tree else 0


def get(tree: Map, key: int, pay: Pay = free) -> Any:
    """The value at a key, or None."""
    while tree:
        pay(1)
        if key == tree.key:
            return tree.value
        tree = tree.left if key < tree.key else tree.right
    return None


def modify(tree: Map, key: int, value: Any, combine: Combine, pay: Pay = free) -> Tree:
    """The tree with a value at a key, combined with the one that is there."""
    pay(1)
    if tree is None:
        return Tree(key, value)
    if key == tree.key:
        new = combine(key, value, tree.value)
        return Tree(key, new, tree.left, tree.right, tree.size)
    if key < tree.key:
        left = modify(tree.left, key, value, combine, pay)
        return _balanced(left, tree.key, tree.value, tree.right)
    right = modify(tree.right, key, value, combine, pay)
    return _balanced(tree.left, tree.key, tree.value, right)


def pop(tree: Map, key: int, pay: Pay = free) -> Map:
    """The tree without a key."""
    left, _, right = cut(tree, key, pay)
    return concatenated(left, right, pay)


def union(a: Map, b: Map, combine: Combine, pay: Pay = free) -> Map:
    """All entries of both."""
    pay(1)
    if a is None or b is None:
        return a or b
    left, other, right = cut(b, a.key, pay)
    value = a.value if other is None else combine(a.key, a.value, other.value)
    low = union(a.left, left, combine, pay)
    high = union(a.right, right, combine, pay)
    return join(low, a.key, value, high, pay)


def entries(tree: Map) -> Iterator[tuple[int, Any]]:
    """Keys and values in order."""
    if tree:
        yield from entries(tree.left)
        yield tree.key, tree.value
        yield from entries(tree.right)


def cut(tree: Map, key: int, pay: Pay = free) -> tuple[Map, Tree | None, Map]:
    """The entries below a key, the one at it, and those above it."""
    if tree is None:
        return None, None, None
    pay(1)
    if key == tree.key:
        return tree.left, tree, tree.right
    if key < tree.key:
        low, found, high = cut(tree.left, key, pay)
        return low, found, join(high, tree.key, tree.value, tree.right, pay)
    low, found, high = cut(tree.right, key, pay)
    return join(tree.left, tree.key, tree.value, low, pay), found, high


def join(left: Map, key: int, value: Any, right: Map, pay: Pay = free) -> Tree:
    """The balanced tree of what stands below a key, the key, and what stands above."""
    pay(1)
    if left and _outweighs(left, right):
        inner = join(left.right, key, value, right, pay)
        return _balanced(left.left, left.key, left.value, inner)
    if right and _outweighs(right, left):
        inner = join(left, key, value, right.left, pay)
        return _balanced(inner, right.key, right.value, right.right)
    return _tree(left, key, value, right)


def concatenated(left: Map, right: Map, pay: Pay = free) -> Map:
    """The tree of two trees, all of the first below the second."""
    if left is None or right is None:
        return left or right
    first = right
    while first.left:
        pay(1)
        first = first.left
    return join(left, first.key, first.value, cut(right, first.key, pay)[2], pay)


def _outweighs(one: Map, other: Map) -> bool:
    return size(one) + 1 > _BALANCE * (size(other) + 1)


def _tree(left: Map, key: int, value: Any, right: Map) -> Tree:
    return Tree(key, value, left, right, size(left) + 1 + size(right))


def _balanced(left: Map, key: int, value: Any, right: Map) -> Tree:
    """A tree one side of which may have grown a little too large: rotate it."""
    if right and _outweighs(right, left):
        if size(right.left) >= 2 * size(right.right) and right.left:
            inner = right.left
            low = _tree(left, key, value, inner.left)
            high = _tree(inner.right, right.key, right.value, right.right)
            return _tree(low, inner.key, inner.value, high)
        low = _tree(left, key, value, right.left)
        return _tree(low, right.key, right.value, right.right)
    if left and _outweighs(left, right):
        if size(left.right) >= 2 * size(left.left) and left.right:
            inner = left.right
            low = _tree(left.left, left.key, left.value, inner.left)
            high = _tree(inner.right, key, value, right)
            return _tree(low, inner.key, inner.value, high)
        high = _tree(left.right, key, value, right)
        return _tree(left.left, left.key, left.value, high)
    return _tree(left, key, value, right)
