"""Fit a two-compartment model of a drug to concentrations measured in several subjects.

A drug is swallowed, injected or infused. It is absorbed from a depot into the central
compartment, exchanged with a peripheral one, and cleared. Clearance grows with the body
weight and with the function of the kidneys, volumes with the weight, and subjects vary
around that. Between the events of a subject's history (doses, starts and ends of
infusions, blood samples) the amounts follow a linear differential equation, which is
integrated by the classical Runge-Kutta method. What is fitted is the mode of the joint
posterior of the population's parameters and the subjects' deviations.

    python examples/pharmacokinetics.py
    python examples/pharmacokinetics.py --plot curves.png
"""

from __future__ import annotations

import argparse
import enum
import math
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult, minimize

import chadllvm as cl

Vector = NDArray[np.float64]

STEP = 0.25  # The longest step of the integration, in hours.
TYPICAL_WEIGHT = 70.0  # kg
TYPICAL_RENAL = 100.0  # ml/min, the clearance of creatinine


class Kind(enum.IntEnum):
    """What happens at an event; the unit of its amount."""

    ORAL = 0  # mg into the depot
    BOLUS = 1  # mg into the central compartment
    START = 2  # an infusion, mg/h
    STOP = 3  # mg/h
    SAMPLE = 4  # a concentration measured, mg/l


EVENT = np.dtype(
    [("subject", np.int64), ("time", float), ("kind", np.int64), ("amount", float)]
)


class Subject(NamedTuple):
    """What is known of a subject; the rows of its events are first, first + 1, …"""

    weight: float
    renal: float
    first: int
    last: int


class Population(NamedTuple):
    """Logarithms of the typical values, in l/h, l, l/h, l and 1/h, and of variances.

    `by_renal` is the power of clearance in the kidneys' function; `sigma` and `omega`
    are the logarithms of the standard deviations of a measured concentration's
    logarithm and of the subjects' deviations.
    """

    clearance: float
    central: float
    exchange: float
    peripheral: float
    absorption: float
    by_renal: float
    sigma: float
    omega: float


class Rates(NamedTuple):
    """A subject's own parameters: rates in 1/h, the central volume in l."""

    absorption: float
    elimination: float
    outward: float
    inward: float
    volume: float


PRIOR_MEAN = Population(1.5, 3.0, 1.5, 3.5, 0.0, 0.5, -2.0, -1.5)
PRIOR_WIDTH = Population(1.0, 1.0, 1.0, 1.0, 1.0, 0.5, 0.5, 0.5)


@cl.jit
def rates_of(population: Population, subject: Subject, deviation: cl.f64[:]) -> Rates:
    """The subject's parameters; deviations are those of clearance and absorption."""
    size = subject.weight / TYPICAL_WEIGHT
    renal = (subject.renal / TYPICAL_RENAL) ** population.by_renal
    clearance = math.exp(population.clearance + deviation[0]) * size**0.75 * renal
    exchange = math.exp(population.exchange) * size**0.75
    central = math.exp(population.central) * size
    peripheral = math.exp(population.peripheral) * size
    return Rates(
        absorption=math.exp(population.absorption + deviation[1]),
        elimination=clearance / central,
        outward=exchange / central,
        inward=exchange / peripheral,
        volume=central,
    )


@cl.jit
def slope(amounts: cl.f64[:], rates: Rates, infusion: float) -> cl.f64[:]:
    """The rates of change of the amounts in depot, centre and periphery."""
    depot, central, peripheral = amounts
    absorbed = rates.absorption * depot
    eliminated = rates.elimination * central
    exchanged = rates.outward * central - rates.inward * peripheral
    return np.array(
        [-absorbed, absorbed + infusion - eliminated - exchanged, exchanged]
    )


@cl.jit
def advanced(
    amounts: cl.f64[:], rates: Rates, infusion: float, duration: float
) -> cl.f64[:]:
    """The amounts after some hours in which nothing happens."""
    steps = math.ceil(duration / STEP)
    h = duration / max(steps, 1)
    for _ in range(steps):
        k1 = slope(amounts, rates, infusion)
        k2 = slope(amounts + 0.5 * h * k1, rates, infusion)
        k3 = slope(amounts + 0.5 * h * k2, rates, infusion)
        k4 = slope(amounts + h * k3, rates, infusion)
        amounts = amounts + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return amounts


@cl.jit
def predicted(rates: Rates, events: np.ndarray) -> cl.f64[:]:
    """The concentrations after each of a subject's events, in order of time."""
    amounts = np.zeros(3)
    infusion = 0.0
    now = events[0]["time"]
    concentrations = []
    for event in events:
        amounts = advanced(amounts, rates, infusion, event["time"] - now)
        now = event["time"]
        if event["kind"] == Kind.ORAL:
            amounts[0] += event["amount"]
        elif event["kind"] == Kind.BOLUS:
            amounts[1] += event["amount"]
        elif event["kind"] == Kind.START:
            infusion += event["amount"]
        elif event["kind"] == Kind.STOP:
            infusion -= event["amount"]
        concentrations.append(amounts[1] / rates.volume)
    return concentrations


@cl.jit
def log_normal(x: float, mean: float, width: float) -> float:
    """The logarithm of the normal density."""
    z = (x - mean) / width
    return -0.5 * z * z - math.log(width) - 0.5 * math.log(2.0 * math.pi)


@cl.jit
def log_likelihood(rates: Rates, events: np.ndarray, sigma: float) -> float:
    """Of a subject's samples, with a lognormal error."""
    concentrations = predicted(rates, events)
    total = 0.0
    for event, concentration in zip(events, concentrations, strict=True):
        if event["kind"] == Kind.SAMPLE:
            expected = math.log(concentration)
            total += log_normal(math.log(event["amount"]), expected, sigma)
    return total


@cl.jit
def log_posterior(
    population: Population,
    deviations: cl.f64[:, :],
    subjects: list[Subject],
    events: np.ndarray,
) -> float:
    """Of the population's parameters and each subject's deviations (subjects, 2)."""
    total = 0.0
    for parameter, mean, width in zip(population, PRIOR_MEAN, PRIOR_WIDTH, strict=True):
        total += log_normal(parameter, mean, width)
    sigma, omega = math.exp(population.sigma), math.exp(population.omega)
    for subject, deviation in zip(subjects, deviations, strict=True):
        rates = rates_of(population, subject, deviation)
        total += log_likelihood(rates, events[subject.first : subject.last], sigma)
        total += sum(log_normal(value, 0.0, omega) for value in deviation)
    return total


# ---- the trial and the fit, in plain NumPy and SciPy


class Trial(NamedTuple):
    """Everything that is measured."""

    subjects: list[Subject]
    events: NDArray[np.void]


TRUTH = Population(1.6, 2.9, 1.8, 3.3, -0.2, 0.8, math.log(0.08), math.log(0.2))


def history(subject: int, weight: float) -> list[tuple[int, float, Kind, float]]:
    """The doses of a subject, and when blood is taken (still without results)."""
    dose = 2.0 * weight
    if subject % 3 == 0:
        doses = [(0.0, Kind.ORAL, dose), (24.0, Kind.ORAL, dose)]
    elif subject % 3 == 1:
        doses = [(0.0, Kind.BOLUS, 0.5 * dose), (12.0, Kind.ORAL, dose)]
    else:
        doses = [(0.0, Kind.START, 0.25 * dose), (4.0, Kind.STOP, 0.25 * dose)]
        doses += [(24.0, Kind.ORAL, dose)]
    samples = [
        (t, Kind.SAMPLE, 0.0) for t in (0.5, 1.5, 3.0, 5.0, 8.0, 14.0, 26.0, 36.0)
    ]
    return [(subject, *event) for event in sorted([*doses, *samples])]


def simulated(truth: Population, count: int, seed: int) -> Trial:
    """A trial of subjects that follow the model."""
    random = np.random.default_rng(seed)
    subjects: list[Subject] = []
    rows: list[tuple[float, ...]] = []
    for number in range(count):
        weight, renal = random.uniform(50.0, 100.0), random.uniform(30.0, 140.0)
        events = np.array(history(number, weight), EVENT)
        subject = Subject(weight, renal, len(rows), len(rows) + len(events))
        deviation = math.exp(truth.omega) * random.normal(size=2)
        rates = rates_of(truth, subject, deviation)
        error = np.exp(math.exp(truth.sigma) * random.normal(size=len(events)))
        is_sample = events["kind"] == Kind.SAMPLE
        measured = predicted(rates, events) * error
        events["amount"][is_sample] = measured[is_sample]
        subjects.append(subject)
        rows += events.tolist()
    return Trial(subjects, np.array(rows, EVENT))


def objective(theta: Vector, trial: Trial) -> tuple[float, Vector]:
    """The negative log-posterior of all parameters in one vector, and its gradient."""
    split = len(Population._fields)
    population, deviations = Population(*theta[:split]), theta[split:].reshape(-1, 2)
    value, (by_population, by_deviations) = cl.value_and_grad(
        log_posterior, argnums=(0, 1)
    )(population, deviations, *trial)
    return -value, -np.concatenate([by_population, by_deviations.ravel()])


def fit(trial: Trial) -> OptimizeResult:
    """The mode of the posterior, from the prior's mean."""
    start = np.concatenate([PRIOR_MEAN, np.zeros(2 * len(trial.subjects))])
    # Where nobody deviates the density of deviations has no bound.
    bounds = [(None, None)] * 7 + [(-2.5, None)] + [(None, None)] * len(start[8:])
    return minimize(
        objective, start, args=(trial,), jac=True, method="L-BFGS-B", bounds=bounds
    )


def draw(path: Path, trial: Trial, theta: Vector) -> None:
    """Write the fitted curves of the first subjects beside what was measured."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    population, deviations = Population(*theta[:8]), theta[8:].reshape(-1, 2)
    figure, axes = plt.subplots(
        2, 3, figsize=(10, 5), sharex=True, layout="constrained"
    )
    for axis, subject, deviation in zip(
        axes.flat, trial.subjects, deviations, strict=False
    ):
        events = trial.events[subject.first : subject.last]
        times = np.linspace(0.0, 36.0, 400)
        fine = np.zeros(len(times), EVENT)
        fine["time"], fine["kind"] = times, Kind.SAMPLE
        is_sample = events["kind"] == Kind.SAMPLE
        both = np.concatenate([events[~is_sample], fine])
        both = both[np.argsort(both["time"], kind="stable")]
        curve = predicted(rates_of(population, subject, deviation), both)
        axis.plot(both["time"], curve)
        axis.plot(events["time"][is_sample], events["amount"][is_sample], "o")
        axis.set(yscale="log", ylim=(0.05, 20.0))
    figure.supxlabel("hours")
    figure.supylabel("mg/l")
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main() -> None:
    """Simulate, fit, report."""
    parser = argparse.ArgumentParser(description="Fit a two-compartment model.")
    parser.add_argument("--subjects", type=int, default=30)
    parser.add_argument("--plot", type=Path, help="the picture to write")
    options = parser.parse_args()
    trial = simulated(TRUTH, options.subjects, seed=0)
    start = time.perf_counter()
    result = fit(trial)
    seconds = time.perf_counter() - start
    print(f"{result.message}: {result.nfev} gradients in {seconds:.1f} s")
    for name, found, true in zip(Population._fields, result.x, TRUTH, strict=False):
        print(f"{name:>12} {found:7.3f}   simulated with {true:7.3f}")
    if options.plot:
        draw(options.plot, trial, result.x)


if __name__ == "__main__":
    main()
