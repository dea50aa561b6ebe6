"""Three posteriors by NUTS: PyMC's own, PyMC with our density, nutpie with our density.

    python -m bench.posteriors [--draws 1000] [--chains 2]

Each model is written twice: with `chadllvm.stats` over unconstrained parameters, and
in PyMC's own terms. Prints what it takes until the first draw, the time of sampling for
an effective draw (of the quantity that has the fewest, by ArviZ's bulk measure), and
how far the posterior means are from those of PyMC: the largest difference in their
standard errors of Monte Carlo. Above 5 something is wrong, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import logging
import math
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

import chadllvm as cl
from chadllvm import stats, transforms

# Differences of means in standard errors that chance does not explain.
MOST = 5.0

RNG = np.random.default_rng(20)

# ---- eight schools, not centred (Rubin 1981)

EFFECTS = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
ERRORS = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])


class Schools(NamedTuple):
    mean: float
    log_spread: float
    apart: cl.f64[:]


@cl.jit
def schools(u: Schools) -> float:
    spread = transforms.positive.constrain(u.log_spread)
    prior = stats.norm.logpdf(u.mean, 0.0, 5.0)
    prior += stats.halfcauchy.logpdf(spread, 0.0, 5.0)
    prior += transforms.positive.log_jacobian(u.log_spread)
    prior += np.sum(stats.norm.logpdf(u.apart))
    means = u.mean + spread * u.apart
    return prior + np.sum(stats.norm.logpdf(EFFECTS, means, ERRORS))


def schools_in_pymc() -> None:
    import pymc as pm

    mean, spread = pm.Normal("mean", 0.0, 5.0), pm.HalfCauchy("spread", 5.0)
    apart = pm.Normal("apart", shape=8)
    pm.Deterministic("log_spread", pm.math.log(spread))
    pm.Normal("y", mean + spread * apart, ERRORS, observed=EFFECTS)


# ---- a logistic regression with offsets of groups

GROUPS = RNG.integers(0, 20, size=400)
DESIGN = RNG.normal(size=(400, 3))
_ODDS = DESIGN @ np.array([1.0, -0.5, 0.25]) + 0.8 * RNG.normal(size=20)[GROUPS]
ANSWERS = (RNG.random(400) < 1.0 / (1.0 + np.exp(-_ODDS))).astype(np.int64)


class Grouped(NamedTuple):
    slopes: cl.f64[:]
    log_spread: float
    apart: cl.f64[:]


@cl.jit
def grouped(u: Grouped) -> float:
    spread = transforms.positive.constrain(u.log_spread)
    prior = np.sum(stats.norm.logpdf(u.slopes, 0.0, 2.0))
    prior += stats.halfnorm.logpdf(spread) + np.sum(stats.norm.logpdf(u.apart))
    prior += transforms.positive.log_jacobian(u.log_spread)
    odds = DESIGN @ u.slopes + spread * u.apart[GROUPS]
    return prior + np.sum(stats.bernoulli_logit.logpmf(ANSWERS, odds))


def grouped_in_pymc() -> None:
    import pymc as pm

    slopes = pm.Normal("slopes", 0.0, 2.0, shape=3)
    spread, apart = pm.HalfNormal("spread", 1.0), pm.Normal("apart", shape=20)
    pm.Deterministic("log_spread", pm.math.log(spread))
    odds = pm.math.dot(DESIGN, slopes) + spread * apart[GROUPS]
    pm.Bernoulli("y", logit_p=odds, observed=ANSWERS)


# ---- counts that spread more than Poisson's

CAUSES = DESIGN[:300].copy()
RATES = np.exp(CAUSES @ np.array([0.5, 0.3, -0.4]) + 1.0)
COUNTS = RNG.negative_binomial(2.0, 2.0 / (2.0 + RATES)).astype(np.int64)


class Counted(NamedTuple):
    offset: float
    slopes: cl.f64[:]
    log_shape: float


@cl.jit
def counted(u: Counted) -> float:
    shape = transforms.positive.constrain(u.log_shape)
    prior = stats.norm.logpdf(u.offset, 0.0, 2.0) + stats.expon.logpdf(shape)
    prior += transforms.positive.log_jacobian(u.log_shape)
    prior += np.sum(stats.norm.logpdf(u.slopes))
    mean = np.exp(u.offset + CAUSES @ u.slopes)
    return prior + np.sum(stats.nbinom.logpmf(COUNTS, shape, shape / (shape + mean)))


def counted_in_pymc() -> None:
    import pymc as pm

    offset, slopes = pm.Normal("offset", 0.0, 2.0), pm.Normal("slopes", shape=3)
    shape = pm.Exponential("shape", 1.0)
    pm.Deterministic("log_shape", pm.math.log(shape))
    mean = pm.math.exp(offset + pm.math.dot(CAUSES, slopes))
    pm.NegativeBinomial("y", mu=mean, alpha=shape, observed=COUNTS)


@dataclass(frozen=True)
class Model:
    """A posterior: our density and where it starts, and PyMC's."""

    name: str
    density: Callable[[Any], Any]
    start: Any
    in_pymc: Callable[[], None]


_SCHOOLS = Schools(0.0, 0.0, np.zeros(8))
_GROUPED = Grouped(np.zeros(3), 0.0, np.zeros(20))
_COUNTED = Counted(0.0, np.zeros(3), 0.0)

MODELS = (
    Model("eight schools", schools, _SCHOOLS, schools_in_pymc),
    Model("grouped logistic regression", grouped, _GROUPED, grouped_in_pymc),
    Model("negative binomial regression", counted, _COUNTED, counted_in_pymc),
)


# ---- the three ways


@dataclass(frozen=True)
class Sampled:
    """Draws by quantity, each with chains, draws and then its own axes; and times."""

    draws: dict[str, np.ndarray[Any, Any]]
    ready: float
    sampling: float

    def effective(self) -> float:
        """The least number of effective draws, by ArviZ."""
        import arviz

        found = arviz.ess(arviz.convert_to_dataset(self.draws))
        return min(float(found[name].min()) for name in self.draws)


@dataclass(frozen=True)
class Settings:
    draws: int
    chains: int

    @property
    def pymc(self) -> dict[str, Any]:
        return {
            **{"draws": self.draws, "tune": self.draws, "chains": self.chains},
            **{"cores": 1, "random_seed": 7, "progressbar": False},
            "compute_convergence_checks": False,
        }


def _by_pymc(model: Model, settings: Settings) -> Sampled:
    import pymc as pm

    start = time.perf_counter()
    with pm.Model():
        model.in_pymc()
        trace = pm.sample(**settings.pymc)
    return _pymc_sampled(model, trace.posterior, start)


def _by_pymc_with_ours(model: Model, settings: Settings) -> Sampled:
    import pymc as pm

    from chadllvm.interop.derived import of_vector
    from chadllvm.interop.pytensor import pytensor_op

    start = time.perf_counter()
    x0, _, flat = of_vector(model.density, model.start)
    with pm.Model():
        point = pm.Flat("point", shape=len(x0), initval=x0)
        pm.Potential("density", pytensor_op(flat)(point))
        trace = pm.sample(**settings.pymc)
    points = np.asarray(trace.posterior["point"])
    sampling = float(trace.posterior.attrs["sampling_time"])
    ready = time.perf_counter() - start - sampling
    return Sampled(_named(points, model.start), ready, sampling)


def _named(points: np.ndarray[Any, Any], start: Any) -> dict[str, np.ndarray[Any, Any]]:
    """The columns of vectors by the fields of the record, all chains and draws."""
    found, first = {}, 0
    for name, value in start._asdict().items():
        size = np.size(value)
        columns = points[..., first : first + size]
        found[name] = columns if np.ndim(value) else columns[..., 0]
        first += size
    return found


def _pymc_sampled(model: Model, posterior: Any, start: float) -> Sampled:
    sampling = float(posterior.attrs["sampling_time"])
    draws = {name: np.asarray(posterior[name]) for name in model.start._fields}
    return Sampled(draws, time.perf_counter() - start - sampling, sampling)


def _by_nutpie_with_ours(model: Model, settings: Settings) -> Sampled:
    import nutpie

    from chadllvm.interop.nutpie import nutpie_model

    start = time.perf_counter()
    made = nutpie_model(model.density, model.start)
    ready = time.perf_counter()
    trace = nutpie.sample(
        made, draws=settings.draws, tune=settings.draws, chains=settings.chains,
        cores=1, seed=7, progress_bar=False,
    )  # fmt: skip
    sampling = time.perf_counter() - ready
    draws = {name: np.asarray(trace.posterior[name]) for name in model.start._fields}
    return Sampled(draws, ready - start, sampling)


WAYS: dict[str, Callable[[Model, Settings], Sampled]] = {
    "PyMC": _by_pymc,
    "PyMC, our density": _by_pymc_with_ours,
    "nutpie, our density": _by_nutpie_with_ours,
}


def apart(first: Sampled, second: Sampled) -> float:
    """The largest difference of two means, in standard errors of Monte Carlo."""
    import arviz

    worst = 0.0
    for name, draws in first.draws.items():
        other = second.draws[name]
        gap = np.abs(draws.mean((0, 1)) - other.mean((0, 1)))
        errors = [
            np.asarray(arviz.mcse(arviz.convert_to_dataset({name: each}))[name])
            for each in (draws, other)
        ]
        worst = max(worst, float(np.max(gap / np.hypot(*errors))))
    return worst


def main() -> int:
    """Measure all; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.posteriors")
    parser.add_argument("--draws", type=int, default=1000, help="after as many to tune")
    parser.add_argument("--chains", type=int, default=2)
    options = parser.parse_args()
    settings = Settings(options.draws, options.chains)
    for logger in ("pymc", "pytensor"):
        logging.getLogger(logger).setLevel(logging.ERROR)
    warnings.simplefilter("ignore")
    table = Table(title="Posteriors by NUTS", title_justify="left")
    for head in ("model", "by", "first draw", "effective draws", "each", "means apart"):
        table.add_column(head, justify="left" if head in ("model", "by") else "right")
    worst = 0.0
    for model in MODELS:
        first: Sampled | None = None
        for name, run in WAYS.items():
            found = run(model, settings)
            first = first or found
            gap = apart(first, found) if found is not first else math.nan
            worst = max(worst, 0.0 if math.isnan(gap) else gap)
            count = found.effective()
            table.add_row(
                model.name, name, f"{found.ready:.1f} s", f"{count:.0f}",
                f"{1e3 * found.sampling / count:.2f} ms",
                "" if math.isnan(gap) else f"{gap:.1f}",
            )  # fmt: skip
    Console(width=110).print(table)
    return int(worst > MOST)


if __name__ == "__main__":
    sys.exit(main())
