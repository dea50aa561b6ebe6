"""Sparse cotangents and environments (§4.1): zeros are elided.

D[σ × τ]₂ may be a zero (None), and an environment is a persistent balanced tree of the
cotangents that are not zero. The rules are those of §2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from chadllvm.chad.reference.linear import Linear, Pay
from chadllvm.chad.reference.naive import Environments, Types
from chadllvm.ir.types import F64, Product, Sum, Type


class Sparse(Linear):
    """D[σ × τ]₂ = 1 + D[σ]₂ × D[τ]₂: every zero takes one step."""

    def zero(self, ty: Type, pay: Pay) -> Any:
        match ty:
            case Product((_, _)) | Sum():
                return None
            case _:
                return 0.0 if ty == F64 else ()

    def part(self, pair: Any, index: int, ty: Type, pay: Pay) -> Any:
        if pair is None:
            pay(1)
            return self.zero(ty, pay)
        return pair[index]

    def cast(self, cotangent: Any, index: int, ty: Type, pay: Pay) -> Any:
        if cotangent is None:
            pay(1)
        return super().cast(cotangent, index, ty, pay)

    def plus_pair(self, a: Any, b: Any, ty: Product, pay: Pay) -> Any:
        pay(1)
        if a is None or b is None:
            return b if a is None else a
        return tuple(map(lambda x, y, t: self.plus(x, y, t, pay), a, b, ty.fields))


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


def get(tree: Map, key: int) -> Any:
    """The value at a key, or None."""
    while tree:
        if key == tree.key:
            return tree.value
        tree = tree.left if key < tree.key else tree.right
    return None


def modify(tree: Map, key: int, value: Any, combine: Combine) -> Tree:
    """The tree with a value at a key, combined with the one that is there."""
    if tree is None:
        return Tree(key, value)
    if key == tree.key:
        new = combine(key, value, tree.value)
        return Tree(key, new, tree.left, tree.right, tree.size)
    if key < tree.key:
        left = modify(tree.left, key, value, combine)
        return join(left, tree.key, tree.value, tree.right)
    right = modify(tree.right, key, value, combine)
    return join(tree.left, tree.key, tree.value, right)


def pop(tree: Map, key: int) -> Map:
    """The tree without a key."""
    left, _, right = cut(tree, key)
    return concatenated(left, right)


def union(a: Map, b: Map, combine: Combine) -> Map:
    """All entries of both; in O(m log(n/m + 1)) for m entries and n more."""
    if a is None or b is None:
        return a or b
    left, other, right = cut(b, a.key)
    value = a.value if other is None else combine(a.key, a.value, other.value)
    low, high = union(a.left, left, combine), union(a.right, right, combine)
    return join(low, a.key, value, high)


def entries(tree: Map) -> Iterator[tuple[int, Any]]:
    """Keys and values in order."""
    if tree:
        yield from entries(tree.left)
        yield tree.key, tree.value
        yield from entries(tree.right)


def cut(tree: Map, key: int) -> tuple[Map, Tree | None, Map]:
    """The entries below a key, the one at it, and those above it."""
    if tree is None:
        return None, None, None
    if key == tree.key:
        return tree.left, tree, tree.right
    if key < tree.key:
        low, found, high = cut(tree.left, key)
        return low, found, join(high, tree.key, tree.value, tree.right)
    low, found, high = cut(tree.right, key)
    return join(tree.left, tree.key, tree.value, low), found, high


def join(left: Map, key: int, value: Any, right: Map) -> Tree:
    """The balanced tree of what stands below a key, the key, and what stands above."""
    if left and _outweighs(left, right):
        inner = join(left.right, key, value, right)
        return _balanced(left.left, left.key, left.value, inner)
    if right and _outweighs(right, left):
        inner = join(left, key, value, right.left)
        return _balanced(inner, right.key, right.value, right.right)
    return _tree(left, key, value, right)


def concatenated(left: Map, right: Map) -> Map:
    """The tree of two trees, all of the first below the second."""
    if left is None or right is None:
        return left or right
    first = right
    while first.left:
        first = first.left
    return join(left, first.key, first.value, cut(right, first.key)[2])


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


class Trees(Environments):
    """Env Γ is a map of the cotangents that are not zero."""

    def zero(self, types: Types, pay: Pay) -> Map:
        return None

    def one(self, types: Types, index: int, cotangent: Any, pay: Pay) -> Map:
        return Tree(index, cotangent)

    def plus(self, types: Types, a: Map, b: Map, pay: Pay) -> Map:
        return union(a, b, lambda k, x, y: self.linear.plus(x, y, types[k], pay))

    def split(self, types: Types, environment: Map, pay: Pay) -> tuple[Map, Any]:
        last = len(types) - 1
        _, entry, _ = cut(environment, last)
        found = entry.value if entry else self.linear.zero(types[last], pay)
        return pop(environment, last), found
