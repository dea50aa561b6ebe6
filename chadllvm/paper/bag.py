"""Bag: what the cotangent of an array is made of (§7, §8.1).

    data Bag a = BEmpty | BOne a | BPlus (Bag a) (Bag a) | BArray (Array a)

Here `a` is a pair of an index and a cotangent: the contributions to an array's
elements, not yet added up. The first three take one step to make. So does `BArray`, but
its cost is inflated to the length of the array: that pays for its `collect`, which
costs at most what building the bag did.

For updates there is a BArray that is kept as a map, `BCells`: contributions to the same
elements are added up there, and those to one element can be taken out in one step.

Nothing here recurses: bags are as deep as programs run long.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

from chadllvm.paper import maps
from chadllvm.paper.maps import Combine, Map

Pay = Callable[[int], None]


@dataclass(frozen=True, slots=True, eq=False)
class BEmpty:
    """No contribution."""


@dataclass(frozen=True, slots=True, eq=False)
class BOne:
    """A contribution to one element."""

    index: int
    value: Any


@dataclass(frozen=True, slots=True, eq=False)
class BPlus:
    """The contributions of both; neither is empty."""

    left: Bag
    right: Bag


@dataclass(frozen=True, slots=True, eq=False)
class BArray:
    """One contribution for each value; without indices, to the elements in order."""

    values: Sequence[Any]
    indices: Sequence[int] | None = None


class BCells(BArray):
    """The sum of the contributions to each element that has any: an array of these.

    As an array it is only written out where it is asked for.
    """

    __slots__ = ("cells",)

    def __init__(self, cells: Map) -> None:
        object.__setattr__(self, "cells", cells)

    cells: Map

    @property
    def values(self) -> list[Any]:
        return [value for _, value in maps.entries(self.cells)]

    @property
    def indices(self) -> list[int]:
        return [index for index, _ in maps.entries(self.cells)]


Bag = BEmpty | BOne | BPlus | BArray

EMPTY = BEmpty()

# What a contribution holds in store beside the potential of its own cotangent: to be
# found, in two steps with the BPlus above it, and to be put in its place.
STORE = 3


def plus(left: Bag, right: Bag, pay: Pay) -> Bag:
    """The contributions of both, in one step."""
    pay(1)
    if isinstance(left, BEmpty):
        return right
    return left if isinstance(right, BEmpty) else BPlus(left, right)


def of_array(
    values: Sequence[Any], indices: Sequence[int] | None, pay: Pay
) -> BArray | BEmpty:
    """A contribution for each value, at the inflated cost."""
    pay(len(values))
    return BArray(values, indices) if values else EMPTY


def collect(bag: Bag, pay: Pay) -> list[tuple[int, Any]]:
    """All contributions from left to right: one step for each of them, and each node.

    Raises nothing and does not recurse, however deep the bag is.
    """
    found: list[tuple[int, Any]] = []
    pending = [bag]
    while pending:
        pay(1)
        match pending.pop():
            case BEmpty():
                pass
            case BOne(index, value):
                found.append((index, value))
            case BPlus(left, right):
                pending += (right, left)
            case BArray() as array:
                values, indices = array.values, array.indices
                pay(len(values))
                places = range(len(values)) if indices is None else indices
                found += zip(places, values, strict=True)
            case other:
                assert_never(other)
    return found


def size(bag: Bag, size_of_value: Callable[[Any], int]) -> int:
    """φ of a bag: what it takes to collect it, and to add up what is in it.

    φ(a + b) = φ(a) + φ(b) - 1, for the one step that BPlus takes.
    """
    total = 0
    pending = [bag]
    while pending:
        match pending.pop():
            case BEmpty():
                total += 1
            case BOne(_, value):
                total += STORE + size_of_value(value)
            case BPlus(left, right):
                total -= 1
                pending += (left, right)
            case BArray() as array:
                total += 2 + sum([STORE + size_of_value(v) for v in array.values])
            case other:
                assert_never(other)
    return total


def depth(bag: Bag) -> int:
    """The most BPlus above one contribution: the span of `collect`."""
    deepest = 0
    pending = [(bag, 0)]
    while pending:
        node, above = pending.pop()
        deepest = max(deepest, above)
        if isinstance(node, BPlus):
            pending += ((node.left, above + 1), (node.right, above + 1))
    return deepest


def taken(bag: Bag, index: int, combine: Combine, pay: Pay) -> tuple[Bag, Any]:
    """The bag without the contributions to an element, and these (or None) in a tuple.

    What is no cells yet becomes cells, which its store pays for; in them, finding a
    cell is free, as in the environment (App. C). Of several cells the largest is kept
    and the others are added to it.
    """
    cells = _settled(bag, combine, pay)
    before, entry, after = maps.cut(cells, index)
    found = None if entry is None else (entry.value,)
    return BCells(maps.concatenated(before, after)), found


def _settled(bag: Bag, combine: Combine, pay: Pay) -> Map:
    """All contributions, those to one element added up."""
    largest: Map = None
    others: list[Bag] = []
    pending = [bag]
    while pending:
        node = pending.pop()
        pay(1)
        if isinstance(node, BPlus):
            pending += (node.right, node.left)
        elif isinstance(node, BCells) and maps.size(node.cells) > maps.size(largest):
            others.append(BCells(largest))
            largest = node.cells
        else:
            others.append(node)
    for other in others:
        for index, value in collect(other, pay):
            largest = maps.modify(largest, index, value, combine)
    return largest
