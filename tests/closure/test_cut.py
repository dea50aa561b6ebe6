"""The least cut of small networks, beside that of all cuts."""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterator
from itertools import combinations

from chadllvm.closure.cut import SINK, SOURCE, Network

Edge = tuple[Hashable, Hashable, int]


def cost(kept: set[Hashable], edges: list[Edge]) -> int:
    inside = kept | {SOURCE}
    return sum(c for a, b, c in edges if a in inside and b not in inside)


def subsets(nodes: list[Hashable]) -> Iterator[set[Hashable]]:
    for size in range(len(nodes) + 1):
        yield from map(set, combinations(nodes, size))


def test_no_cut_is_cheaper() -> None:
    rng = random.Random(1)
    for _ in range(200):
        nodes: list[Hashable] = list(range(rng.randint(1, 6)))
        edges: list[Edge] = []
        for _ in range(rng.randint(1, 14)):
            start, end = rng.choice([SOURCE, *nodes]), rng.choice([*nodes, SINK])
            if start != end:
                edges.append((start, end, rng.choice([0, 1, 2, 5, 9])))
        network = Network()
        for edge in edges:
            network.edge(*edge)
        found = cost(network.cut() - {SOURCE}, edges)
        assert found == min(cost(kept, edges) for kept in subsets(nodes))


def test_of_equal_cuts_the_one_that_keeps_least() -> None:
    network = Network()
    for start, end in ((SOURCE, "a"), ("a", "b"), ("b", SINK)):
        network.edge(start, end, 3)
    assert network.cut() == {SOURCE}
