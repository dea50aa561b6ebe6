"""The examples with unions: their models in closed form, their gradients, fits."""

from __future__ import annotations

import dataclasses
import itertools
import math
from typing import Any

import numpy as np
import pytest
from example_modules import load, undecorated
from numpy.typing import NDArray
from scipy import stats
from scipy.special import logsumexp

import chadllvm as cl

Vector = NDArray[np.float64]
STEP = 1e-6

# ---- the hidden Markov model


@pytest.fixture(scope="module")
def hidden_markov() -> Any:
    return load("hidden_markov")


def uneven(model: Any) -> Any:
    """A model whose odds differ, and whose states are of all families."""
    random, truth = np.random.default_rng(5), model.TRUTH
    odds = truth.transitions + random.normal(size=(5, 5))
    return truth._replace(transitions=odds, initial=random.normal(size=5))


# Gamma and exponential emissions have no density where it is negative.
DAYS = [np.array([0.2, 1.7, -0.3, 6.1, 3.4]), np.array([8.2]), np.array([5.0, 0.1])]


def test_densities_are_those_of_scipy(hidden_markov: Any) -> None:
    model, x = hidden_markov, 1.7
    student = stats.t(3.0, loc=1.0, scale=0.5)
    pairs = [
        (model.Gaussian(1.0, math.log(0.5)), stats.norm(1.0, 0.5)),
        (model.StudentT(1.0, math.log(0.5), math.log(3.0)), student),
        (model.Gamma(math.log(2.0), math.log(3.0)), stats.gamma(2.0, scale=1.0 / 3.0)),
        (model.Exponential(math.log(3.0)), stats.expon(scale=1.0 / 3.0)),
    ]
    for emission, exact in pairs:
        for reading in (x, -x):
            found = model.log_density(emission, reading)
            assert found == pytest.approx(exact.logpdf(reading), rel=1e-12)
    mixed = model.Mixture(math.log(0.25), pairs[2][0], pairs[1][0])
    exact_density = 0.2 * pairs[2][1].pdf(x) + 0.8 * student.pdf(x)
    assert model.log_density(mixed, x) == pytest.approx(math.log(exact_density))


def test_the_recursions_are_those_over_all_paths(hidden_markov: Any) -> None:
    model, total = uneven(hidden_markov), 0.0
    steps = hidden_markov.log_steps(model.transitions)
    first = model.initial - logsumexp(model.initial)
    for day in DAYS:
        tables = [hidden_markov.densities(model.emissions, x) for x in day]
        paths = list(itertools.product(range(5), repeat=len(day)))
        terms = [
            first[path[0]]
            + sum(steps[pair] for pair in itertools.pairwise(path))
            + sum(table[state] for table, state in zip(tables, path, strict=True))
            for path in paths
        ]
        total += logsumexp(terms)
        likeliest = paths[int(np.argmax(terms))]
        assert tuple(hidden_markov.likeliest_states(model, day)) == likeliest
    found = hidden_markov.log_likelihood(model, DAYS)
    assert found == pytest.approx(total, rel=1e-12)


def test_the_hidden_model_is_that_of_plain_python(hidden_markov: Any) -> None:
    plain = undecorated("hidden_markov")
    expected = plain.log_likelihood(uneven(plain), DAYS)
    found = hidden_markov.log_likelihood(uneven(hidden_markov), DAYS)
    assert found == pytest.approx(expected, rel=1e-12)
    states = plain.likeliest_states(uneven(plain), DAYS[0])
    same = hidden_markov.likeliest_states(uneven(hidden_markov), DAYS[0])
    np.testing.assert_array_equal(same, states)


def test_the_hidden_models_gradient_is_a_model(hidden_markov: Any) -> None:
    """Of the classes that the emissions are of, and that of differences."""
    model, here = hidden_markov, uneven(hidden_markov)
    likelihood, theta = model.log_likelihood, np.array(model.numbers(here))
    gradient = cl.grad(likelihood)(here, DAYS)
    classes = [type(emission) for emission in here.emissions]
    assert [type(emission) for emission in gradient.emissions] == classes
    assert type(gradient.emissions[3].second) is model.StudentT
    flat = model.numbers(gradient)
    assert len(flat) == len(theta) == 1 + 2 + 2 + 6 + 3 + 25 + 5
    assert np.count_nonzero(flat) == len(flat)
    for slope, step in zip(flat, STEP * np.eye(len(theta)), strict=True):
        ends = [
            likelihood(model.rebuilt(here, iter(theta + side)), DAYS)
            for side in (step, -step)
        ]
        expected = (ends[0] - ends[1]) / (2.0 * STEP)
        assert slope == pytest.approx(expected, rel=1e-6, abs=1e-8)


def test_the_hidden_models_tangents_agree_with_its_gradient(hidden_markov: Any) -> None:
    model, here = hidden_markov, uneven(hidden_markov)
    gradient = np.array(model.numbers(cl.grad(model.log_likelihood)(here, DAYS)))
    along = np.random.default_rng(2).normal(size=len(gradient))
    tangents = model.rebuilt(here, iter(along)), [np.zeros_like(day) for day in DAYS]
    _, slope = cl.jvp(model.log_likelihood, (here, DAYS), tangents)
    assert slope == pytest.approx(gradient @ along, rel=1e-10)


@pytest.mark.sweep
def test_hidden_states_are_told(hidden_markov: Any) -> None:
    model = hidden_markov
    days = model.simulated(model.TRUTH, [400, 300, 350], seed=1)
    fitted, result = model.fit(model.GUESS, days)
    assert result.success
    fresh = model.simulated(model.TRUTH, [500, 200], seed=2)
    assert model.share_right(fitted, fresh) > 0.95
    means = [fitted.emissions[2].mean, fitted.emissions[3].first.mean]
    np.testing.assert_allclose(means, [6.0, 3.5], atol=0.1)


# ---- the book of options


@pytest.fixture(scope="module")
def option_book() -> Any:
    return load("option_book")


def black_scholes(market: Any, strike: float, maturity: float) -> Vector:
    """The price of a call without skew, its delta and its vega."""
    width = market.volatility * math.sqrt(maturity)
    forward = market.spot * math.exp(market.rate * maturity)
    d = math.log(forward / strike) / width + 0.5 * width
    present = math.exp(-market.rate * maturity) * strike
    value = market.spot * stats.norm.cdf(d) - present * stats.norm.cdf(d - width)
    vega = market.spot * stats.norm.pdf(d) * math.sqrt(maturity)
    return np.array([value, stats.norm.cdf(d), vega])


def knocked_out(market: Any, strike: float, maturity: float, barrier: float) -> float:
    """The closed form of a call that is knocked out above (Reiner and Rubinstein)."""
    width = market.volatility * math.sqrt(maturity)
    power = 2.0 * market.rate / market.volatility**2 + 1.0

    def part(ratio: float, size: float) -> float:
        """Of the paths' mirror images, if the size is not one."""
        d = math.log(ratio) / width + 0.5 * power * width
        ends = stats.norm.cdf([d, d - width])
        present = math.exp(-market.rate * maturity) * strike
        own = market.spot * size**power * ends[0]
        return float(own - present * size ** (power - 2.0) * ends[1])

    s, b = market.spot, barrier
    mirror = b / s
    plain = part(s / strike, 1.0) - part(s / b, 1.0)
    return plain - (part(b * b / (s * strike), mirror) - part(b / s, mirror))


def test_options_have_the_prices_of_closed_forms(option_book: Any) -> None:
    model = option_book
    market, draws = model.MARKET._replace(skew=0.0), model.normals(40_000, 20, seed=0)
    call, put = model.Call(105.0, 0.5), model.Put(105.0, 0.5)
    value, by = cl.value_and_grad(model.price, argnums=1)(call, market, draws)
    expected = black_scholes(market, 105.0, 0.5)
    np.testing.assert_allclose(
        [value, by.spot, by.volatility], expected, rtol=0.03, atol=0.03
    )
    parity = market.spot - 105.0 * math.exp(-0.5 * market.rate)
    assert value - model.price(put, market, draws) == pytest.approx(parity, abs=0.1)
    barrier = model.KnockOut(95.0, 1.0, 125.0)
    prices, slopes, exact = [], [], []
    for spot in (99.0, 100.0, 101.0):
        here = market._replace(spot=spot)
        found, by = cl.value_and_grad(model.price, argnums=1)(barrier, here, draws)
        prices.append(found)
        slopes.append(by.spot)
        exact.append(knocked_out(here, 95.0, 1.0, 125.0))
    np.testing.assert_allclose(prices, exact, atol=0.08)
    assert slopes[1] == pytest.approx((exact[2] - exact[0]) / 2.0, abs=0.02)


def test_the_book_is_that_of_plain_python(option_book: Any) -> None:
    plain, draws = undecorated("option_book"), option_book.normals(20, 8, seed=3)
    expected = plain.worth(plain.BOOK, plain.MARKET, draws)
    found = option_book.worth(option_book.BOOK, option_book.MARKET, draws)
    assert found == pytest.approx(expected, rel=1e-12)


def test_the_books_gradient_is_that_of_differences(option_book: Any) -> None:
    model, draws = option_book, option_book.normals(40, 8, seed=3)
    by_book, by_market = cl.grad(model.worth, argnums=(0, 1))(
        model.BOOK, model.MARKET, draws
    )
    for name, slope in by_market._asdict().items():
        here = getattr(model.MARKET, name)
        markets = [model.MARKET._replace(**{name: here + h}) for h in (STEP, -STEP)]
        ends = [model.worth(model.BOOK, market, draws) for market in markets]
        assert slope == pytest.approx((ends[0] - ends[1]) / (2 * STEP), rel=1e-5)
    for (amount, contract), by in zip(model.BOOK, by_book, strict=True):
        each = model.price(contract, model.MARKET, draws)
        assert by.amount == pytest.approx(each, rel=1e-12)
        assert type(by.contract) is type(contract)
        for name, slope in dataclasses.asdict(by.contract).items():
            here = getattr(contract, name)
            moved = [
                dataclasses.replace(contract, **{name: here + h}) for h in (STEP, -STEP)
            ]
            ends = [model.price(other, model.MARKET, draws) for other in moved]
            expected = amount * (ends[0] - ends[1]) / (2 * STEP)
            assert slope == pytest.approx(expected, rel=1e-5)


def test_the_volatility_behind_quotes_is_found(option_book: Any) -> None:
    model, draws = option_book, option_book.normals(2000, 10, seed=0)
    quotes = [model.price(contract, model.MARKET, draws) for contract in model.QUOTED]
    found = model.calibrate(np.array(quotes), draws)
    assert math.exp(found.x[0]) == pytest.approx(0.2, abs=1e-4)
    assert found.x[1] == pytest.approx(-0.8, abs=1e-3)
