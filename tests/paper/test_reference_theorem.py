"""The complexity theorem (§6), on random and on adversarial programs."""

from __future__ import annotations

import pytest

from bench.paper.theorem import (
    LARGEST_RATIO,
    adversarial,
    measured,
    worst,
)
from chadllvm.ir.types import Product, Sum
from chadllvm.paper.cost import FACTOR, measure
from chadllvm.paper.monad import TreeMonad
from chadllvm.paper.sparse import Sparse
from tests.term_strategies import Experiment, climb, experiment

EXPERIMENTS = [experiment(seed) for seed in range(400)]


def test_the_generator_covers_what_it_should() -> None:
    assert max(len(e.scope) for e in EXPERIMENTS) == 50
    assert max(measured(e).source for e in EXPERIMENTS) > 200
    types = [v.type for e in EXPERIMENTS for v in e.scope]
    assert any(isinstance(t, Sum) and isinstance(t.payloads[0], Sum) for t in types)
    assert any(isinstance(t, Product) and len(str(t)) > 40 for t in types)
    assert any(e.cotangent is None for e in EXPERIMENTS)
    assert any(type(e.cotangent) is tuple and None in e.cotangent for e in EXPERIMENTS)


@pytest.mark.sweep
def test_the_theorem_on_random_programs() -> None:
    results = [measured(e) for e in EXPERIMENTS]
    assert max(map(worst, results)) <= LARGEST_RATIO < FACTOR
    assert all(r.holds for r in results)


def test_cells_in_a_map_cost_the_same_if_finding_is_free() -> None:
    for e in EXPERIMENTS[:60]:
        args = (e.term, e.scope, e.values, e.cotangent, e.before)
        assert measure(TreeMonad(Sparse()), *args) == measured(e)


@pytest.mark.parametrize("name", adversarial(1))
def test_the_theorem_on_adversarial_programs(name: str) -> None:
    for count in (1, 5, 25, 60):
        assert worst(measured(adversarial(count)[name])) <= LARGEST_RATIO


def test_the_pinned_ratio_is_met() -> None:
    """Else a rise would go unnoticed: the worst program is near the pinned ratio."""
    assert worst(measured(adversarial(200)["products of products"])) > 21.9


def test_a_search_finds_no_worse_program() -> None:
    def height(found: Experiment) -> float:
        return worst(measured(found))

    height_found, found = climb(height, seed=3, steps=80)
    assert 12 < height_found <= LARGEST_RATIO
    assert height(found) == height_found
