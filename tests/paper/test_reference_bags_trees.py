"""Bags and trees (§7, Fig. 9): what they mean, at any depth."""

from __future__ import annotations

from collections.abc import Callable, Generator
from random import Random
from typing import Any

import pytest

from chadllvm.paper import bag
from chadllvm.paper.bag import BArray, BEmpty, BOne, BPlus
from chadllvm.paper.linear import free
from chadllvm.paper.tree import (
    DifferenceList,
    Leaf,
    Node,
    Tree,
    get_a,
    listed,
    un_tree,
)

DEPTH = 200_000


def test_collect_gives_all_from_left_to_right() -> None:
    parts: list[bag.Bag] = [BOne(3, "a"), BArray(["b", "c"]), BArray(["d"], [7])]
    whole: bag.Bag = bag.EMPTY
    for part in parts:
        whole = bag.plus(whole, part, free)
    whole = bag.plus(whole, BEmpty(), free)
    assert bag.collect(whole, free) == [(3, "a"), (0, "b"), (1, "c"), (7, "d")]
    assert bag.depth(whole) == 2


@pytest.mark.sweep(share=2)
@pytest.mark.parametrize("is_left", [True, False])
def test_bags_may_be_deep(is_left: bool) -> None:
    whole: bag.Bag = BOne(0, 1.0)
    for k in range(1, DEPTH):
        one = BOne(k, 1.0)
        whole = BPlus(whole, one) if is_left else BPlus(one, whole)
    found = [index for index, _ in bag.collect(whole, free)]
    expected = list(range(DEPTH))
    assert found == (expected if is_left else expected[::-1])
    assert bag.depth(whole) == DEPTH - 1
    assert bag.size(whole, lambda d: 1) == 4 * DEPTH - (DEPTH - 1)


# unTree, against Fig. 9 word for word.

List = Callable[[list[Any]], list[Any]]


def by_the_book(g: Callable[[Any, Any], Any], d: Any, tree: Tree) -> List:
    """Fig. 9 in the identity monad."""
    match tree:
        case Leaf():
            return lambda rest: [d, *rest]
        case Node(t1, _, f, t2):
            d1, d2 = g(d, f)
            rs1 = by_the_book(g, d1, t1)
            rs2 = by_the_book(g, d2, t2)
            return lambda rest: rs1(rs2(rest))


def run(steps: Generator[Any, Any, DifferenceList]) -> DifferenceList:
    """What the steps return, if computations are their values."""
    sent = None
    while True:
        try:
            sent = steps.send(sent)
        except StopIteration as stop:
            found: DifferenceList = stop.value
            return found


def random_tree(rng: Random, size: int) -> Tree:
    if size == 1:
        return Leaf(rng.random())
    first = rng.randrange(1, size)
    left, right = random_tree(rng, first), random_tree(rng, size - first)
    return Node(left, get_a(left) + get_a(right), rng.randint(1, 9), right)


def split(d: int, f: int) -> tuple[int, int]:
    return d * 2 + f, d * 2 - f


@pytest.mark.parametrize("right_first", [False, True])
def test_un_tree_is_that_of_the_figure(right_first: bool) -> None:
    for seed in range(60):
        tree = random_tree(Random(seed), 1 + seed % 17)
        found = run(un_tree(split, 1, tree, free, right_first))
        assert listed(found, free) == by_the_book(split, 1, tree)([])


def test_un_tree_calls_every_backpropagator_once_and_in_order() -> None:
    for right_first in (False, True):
        tree = random_tree(Random(5), 12)
        called: list[int] = []

        def g(d: int, f: int, called: list[int] = called) -> tuple[int, int]:
            called.append(f)
            return d, d

        run(un_tree(g, 1, tree, free, right_first))
        assert called == list(preorder(tree, right_first))


def preorder(tree: Tree, right_first: bool) -> Generator[int]:
    if isinstance(tree, Node):
        yield tree.bp
        parts = (tree.right, tree.left) if right_first else (tree.left, tree.right)
        for part in parts:
            yield from preorder(part, right_first)


@pytest.mark.sweep(share=2)
@pytest.mark.parametrize("is_left", [True, False])
def test_trees_may_be_deep(is_left: bool) -> None:
    tree: Tree = Leaf(0)
    for _ in range(DEPTH):
        one = Leaf(0)
        tree = Node(tree, 0, 1, one) if is_left else Node(one, 0, 1, tree)
    paid: list[int] = []
    found = run(un_tree(lambda d, f: (d, d), 3, tree, paid.append))
    assert listed(found, paid.append) == [3] * (DEPTH + 1)
    # Each node twice and each leaf once, then each difference list once.
    assert sum(paid) == 2 * DEPTH + DEPTH + 1 + 2 * DEPTH + 1
