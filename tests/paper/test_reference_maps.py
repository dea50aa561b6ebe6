"""The environment map, and the costs of environments that are added up."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.paper.environments import (
    UNION,
    random_map,
    single_visits,
    union_ratio,
)
from chadllvm.ir.term import Var
from chadllvm.ir.types import F64
from chadllvm.paper.linear import free
from chadllvm.paper.maps import Map, entries, get, modify, pop, size, union
from chadllvm.paper.sparse import Sparse, Trees
from chadllvm.paper.types import Scope


def add(key: int, a: float, b: float) -> float:
    return a + b


def as_map(numbers: dict[int, float]) -> Map:
    tree: Map = None
    for key, value in numbers.items():
        tree = modify(tree, key, value, add)
    return tree


def check_balance(tree: Map) -> None:
    if tree:
        left, right = size(tree.left) + 1, size(tree.right) + 1
        assert max(left, right) <= 3 * min(left, right)
        assert tree.size == left + right - 1
        check_balance(tree.left)
        check_balance(tree.right)


MAPS = st.dictionaries(st.integers(0, 60), st.integers(-9, 9).map(float))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(MAPS, MAPS, st.integers(0, 60))
def test_maps(a: dict[int, float], b: dict[int, float], key: int) -> None:
    first, second = as_map(a), as_map(b)
    both = union(first, second, add)
    total = {k: a.get(k, 0.0) + b.get(k, 0.0) for k in {*a, *b}}
    without = pop(both, key)
    for tree, expected in (
        (first, a),
        (both, total),
        (without, {k: v for k, v in total.items() if k != key}),
    ):
        check_balance(tree)
        assert list(entries(tree)) == sorted(expected.items())
        assert get(tree, key) == expected.get(key)


def test_a_map_built_in_order_is_balanced() -> None:
    tree = as_map({k: 0.0 for k in range(1000)})
    check_balance(tree)
    while tree:
        tree = pop(tree, tree.key)
        check_balance(tree)


def test_visits_of_small_maps_are_counted_one_by_one() -> None:
    """Root 1 with the leaves 0 and 2."""
    tree = as_map({1: 0.0, 0: 0.0, 2: 0.0})
    for key, expected in ((1, 1), (0, 2), (2, 2), (7, 2)):
        steps: list[int] = []
        get(tree, key, steps.append)
        assert sum(steps) == expected
    steps = []
    assert union(None, tree, add, steps.append) is tree
    assert sum(steps) == 1


@pytest.mark.parametrize("n", [16, 256, 2048])
def test_visits_are_logarithmic(n: int) -> None:
    rng = Random(n)
    most = single_visits(n, rng)
    height = n.bit_length()
    assert most["get"] <= 2 * height
    assert most["modify"] <= 2 * height
    assert most["pop"] <= 8 * height
    assert all(union_ratio(m, n, rng) <= UNION for m in (1, n // 4, n))


def test_union_of_a_small_and_a_large_map_visits_few_nodes() -> None:
    large, small = random_map(range(4096)), random_map([9, 2000])
    steps: list[int] = []
    union(small, large, add, steps.append)
    assert sum(steps) < 150


def test_environments_charge_what_they_are_asked_to() -> None:
    """Nothing for finding, the visited nodes, or the size of the smaller map."""
    scope = Scope.of([Var(f"x{k}", F64) for k in range(8)])
    a, b = as_map({k: 1.0 for k in range(8)}), as_map({2: 1.0, 5: 1.0})
    costs: list[int] = []
    for trees in (
        Trees(Sparse()),
        Trees(Sparse(), finding=True),
        Trees(Sparse(), finding=True, magical=True),
    ):
        steps: list[int] = []
        found = trees.plus(scope, a, b, steps.append)
        assert trees.cotangents(scope, found)[2] == 2.0
        costs.append(sum(steps))
    additions = 2
    real = []
    union(a, b, add, real.append)
    assert costs == [additions, additions + sum(real), additions + 2]
    assert Trees(Sparse()).zero(scope, free) is None
