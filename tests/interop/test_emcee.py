"""A compiled log-density in emcee: as it is, for many walkers at once, in processes."""

from __future__ import annotations

import multiprocessing
from typing import Any

import numpy as np
import pytest

import chadllvm as cl

emcee = pytest.importorskip("emcee")

CENTRE = np.array([1.0, -2.0])


@cl.jit
def log_density(x: cl.f64[:], centre: cl.f64[:]) -> float:
    d = x - centre
    return -0.5 * (d[0] ** 2 + 4.0 * d[1] ** 2)


@cl.jit
def of_all(points: cl.f64[:, :], centre: cl.f64[:]) -> cl.f64[:]:
    return np.array([log_density(point, centre) for point in points])


def sampled(function: Any, **options: Any) -> Any:
    sampler = emcee.EnsembleSampler(8, 2, function, args=(CENTRE,), **options)
    sampler.random_state = np.random.RandomState(1).get_state()
    start = np.random.default_rng(2).normal(size=(8, 2))
    sampler.run_mcmc(start, 1500)
    return sampler.get_chain(discard=200, flat=True)


def test_the_same_chain_one_by_one_and_all_at_once() -> None:
    chain = sampled(log_density)
    assert np.allclose(chain.mean(axis=0), CENTRE, atol=0.15)
    assert np.allclose(chain.std(axis=0), [1.0, 0.5], rtol=0.15)
    assert np.array_equal(chain, sampled(of_all, vectorize=True))


def test_in_processes() -> None:
    with multiprocessing.get_context("forkserver").Pool(2) as pool:
        density = cl.jit(log_density.py_func)
        points = np.random.default_rng(2).normal(size=(4, 2))
        found = pool.starmap(density, [(point, CENTRE) for point in points])
    assert found == [log_density(point, CENTRE) for point in points]
