"""The families of `chadllvm.stats`, and parameters to test them with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from chadllvm import stats


@dataclass(frozen=True)
class Case:
    """A family, some of its shapes, and how near to SciPy it is."""

    name: str
    shapes: tuple[float, ...] = ()
    near: float = 1e-11

    def __str__(self) -> str:
        return f"{self.name}{list(self.shapes) or ''}"

    @property
    def family(self) -> Any:
        return getattr(stats, self.name)


# SciPy's von Mises and skew normal distributions have fewer digits than ours, and some
# of its quantiles next to 1 have.
CASES = (
    Case("norm"),
    Case("halfnorm", near=1e-7),
    Case("lognorm", (0.5,)),
    Case("lognorm", (2.0,)),
    Case("skewnorm", (3.0,), near=1e-4),
    Case("skewnorm", (-1.0,), near=1e-4),
    Case("cauchy"),
    Case("halfcauchy", near=1e-6),
    Case("t", (3.5,)),
    Case("t", (0.7,)),
    Case("t", (30.0,), near=1e-7),
    Case("pareto", (2.5,)),
    Case("laplace"),
    Case("logistic"),
    Case("expon"),
    Case("gumbel_r"),
    Case("weibull_min", (1.5,)),
    Case("weibull_min", (0.6,)),
    Case("gamma", (2.5,)),
    Case("gamma", (0.4,)),
    Case("gamma", (1.0,)),
    Case("gamma", (200.0,)),
    Case("invgamma", (2.5,)),
    Case("beta", (2.0, 3.0)),
    Case("beta", (0.5, 0.5)),
    Case("beta", (1.0, 1.0)),
    Case("beta", (30.0, 0.2)),
    Case("vonmises", (2.0,)),
)
