"""What a book of options is worth, and how that changes with everything it depends on.

A contract is a call, a put, a call on the average, or a call that a barrier knocks out:
a union of classes. Prices are means over simulated paths, in a market whose volatility
depends on the price. One gradient gives the sensitivities to the market (delta, vega,
rho); the one by the book has the same classes, with the sensitivities to each strike,
maturity and barrier. A fit by such gradients finds the volatility behind quotes.

Paths touch a barrier between two of their times, too. With the probability of that, a
price is a continuous function of the barrier and the market, so that the mean of
the derivatives is the derivative of the mean. (It would not be if paths just stopped.)

    python examples/option_book.py
    python examples/option_book.py --plot options.png
"""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult, minimize

import chadllvm as cl

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Call:
    strike: float
    maturity: float


@dataclass(frozen=True)
class Put:
    strike: float
    maturity: float


@dataclass(frozen=True)
class Asian:
    """A call on the mean of the prices at the ends of all steps."""

    strike: float
    maturity: float


@dataclass(frozen=True)
class KnockOut:
    """A call that is worth nothing once the price has been at a barrier above."""

    strike: float
    maturity: float
    barrier: float


Contract = Call | Put | Asian | KnockOut


class Position(NamedTuple):
    """So much of a contract; sold, if negative."""

    amount: float
    contract: Contract


class Market(NamedTuple):
    """The price today, and how it moves; rates and volatilities are per year."""

    spot: float
    rate: float
    volatility: float  # At a price of 100.
    skew: float  # The volatility's logarithm, by that of the price.


@cl.jit
def volatility_at(market: Market, price: float) -> float:
    return market.volatility * math.exp(market.skew * math.log(price / 100.0))


@cl.jit
def path(market: Market, maturity: float, normals: cl.f64[:]) -> cl.f64[:]:
    """Prices from today to the maturity, in as many steps as there are normals."""
    n = len(normals)
    step = maturity / n
    prices = np.zeros(n + 1)
    prices[0] = market.spot
    for i in range(n):
        volatility = volatility_at(market, prices[i])
        drift = (market.rate - 0.5 * volatility**2) * step
        spread = volatility * math.sqrt(step) * normals[i]
        prices[i + 1] = prices[i] * math.exp(drift + spread)
    return prices


@cl.jit
def survival(market: Market, step: float, prices: cl.f64[:], barrier: float) -> float:
    """The probability that a path through these prices stays below a barrier.

    Between two times it is a Brownian bridge in the logarithm of the price.
    """
    alive = 1.0
    for i in range(len(prices) - 1):
        before, after = prices[i], prices[i + 1]
        if before >= barrier or after >= barrier:
            return 0.0
        variance = volatility_at(market, before) ** 2 * step
        room = math.log(barrier / before) * math.log(barrier / after)
        alive *= -math.expm1(-2.0 * room / variance)
    return alive


@cl.jit
def payoff(contract: Contract, market: Market, normals: cl.f64[:]) -> float:
    """What a contract pays on a path, at its maturity."""
    prices = path(market, contract.maturity, normals)
    match contract:
        case Call(strike):
            return max(float(prices[-1]) - strike, 0.0)
        case Put(strike):
            return max(strike - float(prices[-1]), 0.0)
        case Asian(strike):
            return max(float(np.mean(prices[1:])) - strike, 0.0)
        case KnockOut(strike, maturity, barrier):
            if prices[-1] <= strike:
                return 0.0
            alive = survival(market, maturity / len(normals), prices, barrier)
            return alive * (float(prices[-1]) - strike)


@cl.jit
def price(contract: Contract, market: Market, draws: cl.f64[:, :]) -> float:
    """The discounted mean over paths, one for each row of normals."""
    mean = np.mean(np.array([payoff(contract, market, normals) for normals in draws]))
    return math.exp(-market.rate * contract.maturity) * float(mean)


@cl.jit
def worth(book: list[Position], market: Market, draws: cl.f64[:, :]) -> float:
    """That of all positions."""
    return sum(amount * price(contract, market, draws) for amount, contract in book)


@cl.jit
def misfit(
    market: Market, contracts: list[Contract], quotes: cl.f64[:], draws: cl.f64[:, :]
) -> float:
    """Half of the sum of the squares by which prices differ from quotes."""
    errors = [
        price(contract, market, draws) - quote
        for contract, quote in zip(contracts, quotes, strict=True)
    ]
    return 0.5 * float(sum(error**2 for error in errors))


# ---- a book, quotes and a fit, in plain NumPy and SciPy

MARKET = Market(spot=100.0, rate=0.03, volatility=0.2, skew=-0.8)
BOOK = [
    Position(10.0, Call(100.0, 1.0)),
    Position(-5.0, Put(90.0, 0.5)),
    Position(8.0, Asian(100.0, 1.0)),
    Position(-20.0, KnockOut(95.0, 1.0, 125.0)),
]
QUOTED: list[Contract] = [
    *(Put(strike, 0.5) for strike in (80.0, 90.0)),
    *(Call(strike, 0.5) for strike in (100.0, 110.0, 120.0)),
    KnockOut(100.0, 1.0, 130.0),
]


def normals(paths: int, steps: int, seed: int) -> Vector:
    """Draws of paths, each with its mirror image."""
    half = np.random.default_rng(seed).normal(size=(paths // 2, steps))
    return np.concatenate([half, -half])


def calibrate(quotes: Vector, draws: Vector) -> OptimizeResult:
    """The volatility (its logarithm) and the skew that explain quotes best."""
    value_and_gradient = cl.value_and_grad(misfit)

    def cost(theta: Vector) -> tuple[float, Vector]:
        volatility = math.exp(theta[0])
        market = MARKET._replace(volatility=volatility, skew=float(theta[1]))
        value, by = value_and_gradient(market, QUOTED, quotes, draws)
        return value, np.array([by.volatility * volatility, by.skew])

    return minimize(cost, [math.log(0.3), 0.0], jac=True, method="BFGS")


def draw(file: Path, draws: Vector) -> None:
    """Write a picture of each contract's delta over the price today."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    delta = cl.grad(price, argnums=1)
    spots = np.linspace(70.0, 130.0, 41)
    figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
    for _, contract in BOOK:
        markets = [MARKET._replace(spot=float(spot)) for spot in spots]
        slopes = [delta(contract, market, draws).spot for market in markets]
        axis.plot(spots, slopes, label=f"{contract}")
    axis.set(xlabel="price today", ylabel="delta")
    axis.legend(fontsize="small")
    figure.savefig(file, dpi=150)
    plt.close(figure)


def main() -> None:
    """Value a book with its sensitivities, and find a volatility again."""
    parser = argparse.ArgumentParser(description="Value a book of options.")
    parser.add_argument("--paths", type=int, default=20_000)
    parser.add_argument("--plot", type=Path, help="the picture to write")
    options = parser.parse_args()
    draws = normals(options.paths, 50, seed=0)
    value_and_gradient = cl.value_and_grad(worth, argnums=(0, 1))
    value_and_gradient(BOOK, MARKET, draws[:1])  # Compiled now.
    start = time.perf_counter()
    value, (by_book, by_market) = value_and_gradient(BOOK, MARKET, draws)
    print(f"{value:.2f}, with sensitivities in {time.perf_counter() - start:.2f} s")
    names = "delta", "rho", "vega", "by the skew"
    print(", ".join(f"{n} {x:.2f}" for n, x in zip(names, by_market, strict=True)))
    for (amount, contract), by in zip(BOOK, by_book, strict=True):
        slopes = asdict(by.contract).items()
        line = ", ".join(f"{name} {slope:.2f}" for name, slope in slopes)
        print(f"{amount:5.0f} of {contract}: {by.amount:.3f} each; by its {line}")
    other = normals(options.paths, 50, seed=1)
    quotes = np.array([price(contract, MARKET, other) for contract in QUOTED])
    found = calibrate(quotes, draws)
    volatility, skew = math.exp(found.x[0]), found.x[1]
    print(f"quoted: volatility {MARKET.volatility}, skew {MARKET.skew}")
    print(f"fitted: {volatility:.4f}, {skew:.3f} in {found.nit} iterations")
    if options.plot:
        draw(options.plot, draws[::5])


if __name__ == "__main__":
    main()
