"""Log-densities over records, sampled by nutpie."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import pytest

import chadllvm as cl

nutpie = pytest.importorskip("nutpie")

from chadllvm.interop.nutpie import nutpie_model  # noqa: E402


class Line(NamedTuple):
    offset: float
    slopes: cl.f64[:]
    log_sd: float


class Kept(NamedTuple):
    slopes: cl.f64[:]
    sd: float


@cl.jit
def log_posterior(line: Line, x: cl.f64[:, :], y: cl.f64[:]) -> float:
    gap = (y - line.offset - x @ line.slopes) / math.exp(line.log_sd)
    prior = np.sum(line.slopes**2) / 200.0 + line.offset**2 / 200.0
    return -0.5 * np.sum(gap**2) - len(y) * line.log_sd - prior - 0.5 * line.log_sd**2


def kept(line: Line) -> Kept:
    return Kept(line.slopes, math.exp(line.log_sd))


RNG = np.random.default_rng(5)
X = RNG.normal(size=(80, 2))
Y = 1.0 + X @ np.array([2.0, -0.5]) + 0.3 * RNG.normal(size=80)
START = Line(0.0, np.zeros(2), 0.0)


def sampled(model: Any, **options: Any) -> Any:
    options = {"draws": 500, "tune": 400, "chains": 2, "cores": 1} | options
    trace = nutpie.sample(model, seed=3, progress_bar=False, **options)
    return trace.posterior


def test_a_regression() -> None:
    found = sampled(nutpie_model(log_posterior, START, X, Y))
    assert set(found.data_vars) == {"offset", "slopes", "log_sd"}
    assert found["slopes"].shape == (2, 500, 2)
    design = np.column_stack([np.ones(80), X])
    expected, *_ = np.linalg.lstsq(design, Y, rcond=None)
    mean = found.mean(("chain", "draw"))
    assert float(mean["offset"]) == pytest.approx(expected[0], abs=0.02)
    np.testing.assert_allclose(mean["slopes"], expected[1:], atol=0.02)
    sd = float(np.exp(found["log_sd"]).mean())
    assert sd == pytest.approx(np.std(Y - design @ expected), rel=0.1)


def test_what_is_kept_with_names() -> None:
    names = {"coords": {"which": ["first", "second"]}, "dims": {"slopes": ("which",)}}
    found = sampled(nutpie_model(log_posterior, START, X, Y, keep=kept, **names))
    assert set(found.data_vars) == {"slopes", "sd"}
    assert list(found["slopes"].coords["which"].values) == ["first", "second"]
    assert float(found["sd"].mean()) == pytest.approx(0.3, rel=0.3)


@cl.jit
def half(x: cl.f64[:]) -> float:
    if x[0] < 0.0:
        return -math.inf
    return -0.5 * np.sum(x * x)


def test_what_has_no_density_is_never_drawn() -> None:
    found = sampled(nutpie_model(half, np.full(2, 1.5)))["x"]
    assert found.shape == (2, 500, 2)
    assert float(found.min(("chain", "draw"))[0]) >= 0.0
    assert abs(float(found[:, :, 1].mean())) < 0.3


def test_the_same_seed_gives_the_same_draws() -> None:
    model = nutpie_model(log_posterior, START, X, Y)
    first, second = sampled(model, draws=50), sampled(model, draws=50)
    assert np.array_equal(first["slopes"], second["slopes"])


def test_other_functions_are_refused() -> None:
    with pytest.raises(cl.CompileError, match="does not return a float"):
        nutpie_model(lambda x: 2.0 * x, np.ones(2))
    with pytest.raises(TypeError, match="record"):
        nutpie_model(half, "start")
