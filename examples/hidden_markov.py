"""What a machine was doing, from its power: a hidden Markov model of mixed families.

Nobody writes down whether a machine stands by, warms up, runs, takes turns between two
loads or is about to fail; the meter writes down its power. Each of these states has
readings of a family of its own: exponential, gamma, normal, a mixture, Student's t. A
model is a list of such emissions and the odds of going from one state to the next. Its
likelihood is a `match` on the emission inside of the forward recursion; the gradient is
a model of the same classes, which L-BFGS follows. Viterbi's recursion tells the states.

    python examples/hidden_markov.py
    python examples/hidden_markov.py --plot states.png
"""

from __future__ import annotations

import argparse
import dataclasses
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult, minimize

import chadllvm as cl

Vector = NDArray[np.float64]


# ---- the model: scales, shapes and rates are logarithms, so any numbers will do


@dataclass(frozen=True)
class Gaussian:
    mean: float
    log_deviation: float


@dataclass(frozen=True)
class StudentT:
    """As a Gaussian, with heavy tails."""

    center: float
    log_scale: float
    log_freedom: float


@dataclass(frozen=True)
class Gamma:
    """Of positive readings."""

    log_shape: float
    log_rate: float


@dataclass(frozen=True)
class Exponential:
    """Of positive readings, most of them close to zero."""

    log_rate: float


Single = Gaussian | StudentT | Gamma | Exponential


@dataclass(frozen=True)
class Mixture:
    """The first by odds, whose logarithm this is, or else the second."""

    log_odds: float
    first: Single
    second: Single


Emission = Gaussian | StudentT | Gamma | Exponential | Mixture


class Model(NamedTuple):
    """Emissions of k states; logits of (from, to), shape (k, k), and of the first."""

    emissions: list[Emission]
    transitions: NDArray[np.float64]
    initial: NDArray[np.float64]


@cl.jit
def single_log_density(emission: Single, x: float) -> float:
    """Of a reading, in nats; -inf where the family has none."""
    match emission:
        case Gaussian(mean, log_deviation):
            z = (x - mean) * math.exp(-log_deviation)
            return -0.5 * z * z - log_deviation - 0.5 * math.log(2.0 * math.pi)
        case StudentT(center, log_scale, log_freedom):
            z = (x - center) * math.exp(-log_scale)
            freedom = math.exp(log_freedom)
            half = 0.5 * (freedom + 1.0)
            constant = math.lgamma(half) - math.lgamma(0.5 * freedom)
            width = log_scale + 0.5 * (log_freedom + math.log(math.pi))
            return constant - width - half * math.log1p(z * z / freedom)
        case Gamma(log_shape, log_rate) if x > 0.0:
            shape = math.exp(log_shape)
            power = shape * log_rate + (shape - 1.0) * math.log(x)
            return power - math.exp(log_rate) * x - math.lgamma(shape)
        case Exponential(log_rate) if x > 0.0:
            return log_rate - math.exp(log_rate) * x
        case _:
            return -math.inf


@cl.jit
def log_density(emission: Emission, x: float) -> float:
    """The same of mixtures, too."""
    match emission:
        case Mixture(log_odds, first, second):
            a = log_odds + single_log_density(first, x)
            b = single_log_density(second, x)
            return float(np.logaddexp(a, b) - np.logaddexp(log_odds, 0.0))
        case single:
            return single_log_density(single, x)


@cl.jit
def log_sum_exp(values: cl.f64[:]) -> float:
    """The logarithm of a sum, from the logarithms of its terms; one must be finite."""
    largest = np.max(values)
    return float(largest + math.log(np.sum(np.exp(values - largest))))


@cl.jit
def densities(emissions: list[Emission], x: float) -> cl.f64[:]:
    """Those of a reading in all states."""
    return np.array([log_density(emission, x) for emission in emissions])


@cl.jit
def log_steps(logits: cl.f64[:, :]) -> cl.f64[:, :]:
    """The logarithms of the probabilities from each state to all."""
    return np.array([row - log_sum_exp(row) for row in logits])


@cl.jit
def log_likelihood(model: Model, days: list[cl.f64[:]]) -> float:
    """Of all readings of some days, by the forward recursion over each of them."""
    k = len(model.emissions)
    steps = log_steps(model.transitions)
    total = 0.0
    for readings in days:
        forward = model.initial - log_sum_exp(model.initial)
        forward = forward + densities(model.emissions, readings[0])
        for x in readings[1:]:
            reached = np.array([log_sum_exp(forward + steps[:, j]) for j in range(k)])
            forward = reached + densities(model.emissions, x)
        total += log_sum_exp(forward)
    return total


@cl.jit
def likeliest_states(model: Model, readings: cl.f64[:]) -> cl.i64[:]:
    """The states of a day that together explain its readings best (Viterbi)."""
    n, k = len(readings), len(model.emissions)
    steps = log_steps(model.transitions)
    best = model.initial + densities(model.emissions, readings[0])
    came_from = np.zeros((n, k), dtype=np.int64)
    for t in range(1, n):
        ways = [np.argmax(best + steps[:, j]) for j in range(k)]
        reached = np.array([best[ways[j]] + steps[ways[j], j] for j in range(k)])
        came_from[t] = ways
        best = reached + densities(model.emissions, readings[t])
    states = np.zeros(n, dtype=np.int64)
    states[n - 1] = np.argmax(best)
    for t in range(n - 1, 0, -1):
        states[t - 1] = came_from[t, states[t]]
    return states


# ---- data, fits and a report, in plain NumPy and SciPy

STATES = ("stands by", "warms up", "runs", "takes turns", "is unsteady")


def sticky(k: int, stay: float) -> Vector:
    """Logits of transitions that stay with a probability, and go anywhere else."""
    return np.log(np.where(np.eye(k) == 1.0, stay, (1.0 - stay) / (k - 1)))


TRUTH = Model(
    [
        Exponential(math.log(4.0)),
        Gamma(math.log(6.0), math.log(3.0)),
        Gaussian(6.0, math.log(0.4)),
        Mixture(0.5, Gaussian(3.5, math.log(0.3)), StudentT(8.0, math.log(0.3), 1.2)),
        StudentT(7.0, math.log(0.6), math.log(2.0)),
    ],
    sticky(5, 0.95),
    np.zeros(5),
)
# Of the same families, with what somebody who knows the machine might guess.
GUESS = Model(
    [
        Exponential(0.0),
        Gamma(1.0, 0.0),
        Gaussian(5.5, 0.0),
        Mixture(0.0, Gaussian(3.0, 0.0), StudentT(9.0, 0.0, 1.0)),
        StudentT(7.5, 0.0, 1.0),
    ],
    sticky(5, 0.8),
    np.zeros(5),
)
# Of each number around the guess; most are logarithms.
PRIOR_WIDTH = 2.0
# What is usual.
ALL_GAUSSIAN = GUESS._replace(
    emissions=[Gaussian(mean, 0.0) for mean in (1.0, 3.0, 5.5, 7.5, 9.0)]
)


def sample(emission: Emission, random: Generator) -> float:
    """A reading."""
    match emission:
        case Gaussian(mean, log_deviation):
            return random.normal(mean, math.exp(log_deviation))
        case StudentT(center, log_scale, log_freedom):
            t = random.standard_t(math.exp(log_freedom))
            return center + math.exp(log_scale) * t
        case Gamma(log_shape, log_rate):
            return random.gamma(math.exp(log_shape), math.exp(-log_rate))
        case Exponential(log_rate):
            return random.exponential(math.exp(-log_rate))
        case Mixture(log_odds, first, second):
            share = 1.0 / (1.0 + math.exp(-log_odds))
            return sample(first if random.random() < share else second, random)


class Day(NamedTuple):
    """Readings, one each minute, and the states behind them."""

    readings: Vector
    states: NDArray[np.int64]


def simulated(model: Model, lengths: list[int], seed: int) -> list[Day]:
    """Days of so many readings each."""
    random = np.random.default_rng(seed)
    days: list[Day] = []
    steps = np.exp(log_steps(model.transitions))
    first = np.exp(model.initial - log_sum_exp(model.initial))
    for n in lengths:
        states = [random.choice(len(first), p=first)]
        for _ in range(n - 1):
            states.append(random.choice(len(first), p=steps[states[-1]]))
        readings = [sample(model.emissions[state], random) for state in states]
        days.append(Day(np.array(readings), np.array(states)))
    return days


def numbers(part: Any) -> list[float]:
    """All numbers of a model, or of a part of one, or of its gradient."""
    if isinstance(part, float):
        return [part]
    if dataclasses.is_dataclass(part):
        part = [getattr(part, field.name) for field in dataclasses.fields(part)]
    return [number for item in part for number in numbers(item)]


def rebuilt(part: Any, values: Iterator[float]) -> Any:
    """The same classes with other numbers, as many as are needed of these."""
    if isinstance(part, float):
        return next(values)
    if isinstance(part, np.ndarray):
        return np.array([next(values) for _ in range(part.size)]).reshape(part.shape)
    if isinstance(part, list):
        return [rebuilt(item, values) for item in part]
    if isinstance(part, Model):
        return Model(*(rebuilt(item, values) for item in part))
    items = [getattr(part, field.name) for field in dataclasses.fields(part)]
    return type(part)(*(rebuilt(item, values) for item in items))


def fit(start: Model, days: list[Day]) -> tuple[Model, OptimizeResult]:
    """The likeliest model of the families of a guess, which is what is known before."""
    data: list[cl.f64[:]] = [day.readings for day in days]
    guess = np.array(numbers(start))
    count = sum(len(readings) for readings in data)
    value_and_gradient = cl.value_and_grad(log_likelihood)

    def cost(theta: Vector) -> tuple[float, Vector]:
        """Per reading. A wide prior holds what the data do not tell."""
        value, gradient = value_and_gradient(rebuilt(start, iter(theta)), data)
        away = (theta - guess) / PRIOR_WIDTH
        slope = np.array(numbers(gradient)) - away / PRIOR_WIDTH
        return (0.5 * float(away @ away) - value) / count, -slope / count

    found = minimize(cost, guess, jac=True, method="L-BFGS-B")
    return rebuilt(start, iter(found.x)), found


def share_right(model: Model, days: list[Day]) -> float:
    """Of the states that the model tells from the readings."""
    right = [likeliest_states(model, day.readings) == day.states for day in days]
    return float(np.mean(np.concatenate(right)))


def described(emission: Emission) -> str:
    """A line for a report."""
    if isinstance(emission, Mixture):
        share = 1.0 / (1.0 + math.exp(-emission.log_odds))
        first, second = described(emission.first), described(emission.second)
        return f"{100 * share:.0f} % {first}, else {second}"
    values = [
        math.exp(value) if name.startswith("log_") else value
        for name, value in dataclasses.asdict(emission).items()
    ]
    return f"{type(emission).__name__}({', '.join(f'{v:.2f}' for v in values)})"


def draw(path: Path, model: Model, day: Day) -> None:
    """Write a day's readings, in the colours of the states that they are told to be."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    told = likeliest_states(model, day.readings)
    figure, (above, below) = plt.subplots(
        2, sharex=True, figsize=(9, 4), layout="constrained", height_ratios=(3, 1)
    )
    for state, name in enumerate(STATES):
        minutes = np.flatnonzero(told == state)
        above.plot(minutes, day.readings[minutes], ".", label=name)
    # Heavy tails reach further than a picture should.
    above.set(ylabel="kW", ylim=(-1.0, 13.0))
    figure.legend(ncols=len(STATES), loc="outside upper center")
    below.plot(day.states, drawstyle="steps-mid", label="true")
    below.plot(told, "--", drawstyle="steps-mid", label="told")
    below.set(xlabel="minute", yticks=range(len(STATES)), yticklabels=STATES)
    below.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main() -> None:
    """Simulate days, fit two models, tell the states of other days."""
    parser = argparse.ArgumentParser(description="Tell a machine's states.")
    parser.add_argument("--days", type=int, default=8)
    parser.add_argument("--plot", type=Path, help="the picture to write")
    options = parser.parse_args()
    lengths = np.random.default_rng(0).integers(300, 600, size=options.days).tolist()
    days, fresh = simulated(TRUTH, lengths, seed=1), simulated(TRUTH, lengths, seed=2)
    start = time.perf_counter()
    model, found = fit(GUESS, days)
    print(f"{found.nit} iterations, {time.perf_counter() - start:.1f} s")
    for name, true, fitted in zip(
        STATES, TRUTH.emissions, model.emissions, strict=True
    ):
        print(f"{name:>12}: {described(fitted)}, in truth {described(true)}")
    usual = fit(ALL_GAUSSIAN, days)[0]
    data: list[cl.f64[:]] = [day.readings for day in fresh]
    print("on other days, in nats per reading:")
    models = {"the truth": TRUTH, "this model": model, "five Gaussians": usual}
    for name, candidate in models.items():
        mean = log_likelihood(candidate, data) / sum(map(len, data))
        right = 100.0 * share_right(candidate, fresh)
        told = f", {right:.1f} % of the states" if candidate is not usual else ""
        print(f"{name:>15}: {mean:.4f}{told}")
    if options.plot:
        draw(options.plot, model, fresh[0])


if __name__ == "__main__":
    main()
