"""A family of distributions, made from a few functions of its standard member.

    class expon(Family, scipy=True):
        low = 0.0
        def log_density(z): return -z
        ...
    →   expon.logpdf(x, loc, scale), expon.cdf(x, loc, scale), expon.ppf(p, loc, scale)

All methods broadcast over arrays. Their texts are written here, so that each has the
parameters of its family by name.
"""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Callable
from types import FunctionType
from typing import Any, ClassVar, TypeVar

from chadllvm.api.vectorized import Vectorized, vectorize, written
from chadllvm.support.overloads import Namespace, overload

N = TypeVar("N", bound=Namespace)

_CHECKED = "if not (scale > 0.0{valid}):\n        return nan"
_SHARE = "if not (scale > 0.0 and 0.0 <= {first} <= 1.0{valid}):\n        return nan"

# The methods by the functions of the standard member that they call.
_METHODS = {
    "logpdf": (
        "x",
        "z = (x - loc) / scale\n"
        f"    {_CHECKED}\n"
        "    if z < low or z > high:\n"
        "        return -inf\n"
        "    return log_density(z{shapes}) - log(scale)",
    ),
    "logcdf": (
        "x",
        "z = (x - loc) / scale\n"
        f"    {_CHECKED}\n"
        "    if z <= low or z >= high:\n"
        "        return -inf if z <= low else 0.0\n"
        "    return log_below(z{shapes})",
    ),
    "logsf": (
        "x",
        "z = (x - loc) / scale\n"
        f"    {_CHECKED}\n"
        "    if z <= low or z >= high:\n"
        "        return 0.0 if z <= low else -inf\n"
        "    return log_above(z{shapes})",
    ),
    "ppf": (
        "p",
        f"{_SHARE}\n    return loc + scale * quantile(p, 1.0 - p{{shapes}})",
    ),
    "isf": (
        "q",
        f"{_SHARE}\n    return loc + scale * quantile(1.0 - q, q{{shapes}})",
    ),
    "pdf": ("x", "return exp(logpdf(x{shapes}, loc, scale))"),
    "cdf": ("x", "return exp(logcdf(x{shapes}, loc, scale))"),
    "sf": ("x", "return exp(logsf(x{shapes}, loc, scale))"),
}


class Family(Namespace):
    """Distributions of numbers with a location and a scale.

    A subclass has functions of the standard member, where z is `(x - loc) / scale`:
    `log_density(z, …)`, `log_below(z, …)` and `log_above(z, …)`, the logarithms of the
    probabilities of less and of more, for z within the support from `low` to `high`,
    and `quantile(p, q, …)`, where q is 1 - p. `valid` is what holds of the parameters.

    Attributes:
        logpdf, pdf: the density of x; -inf and 0 outside of the support.
        logcdf, cdf: the probability of at most x.
        logsf, sf: the probability of more than x.
        ppf, isf: the x that is exceeded with probability 1 - p, or q.

    Each takes x, p or q, the parameters of the family, `loc=0.0` and `scale=1.0`:
    numbers, or arrays that are broadcast. For other parameters than there are the
    result is NaN.
    """

    low: ClassVar[float] = -math.inf
    high: ClassVar[float] = math.inf
    valid: ClassVar[str] = ""

    logpdf: ClassVar[Vectorized[..., Any]]
    pdf: ClassVar[Vectorized[..., Any]]
    logcdf: ClassVar[Vectorized[..., Any]]
    cdf: ClassVar[Vectorized[..., Any]]
    logsf: ClassVar[Vectorized[..., Any]]
    sf: ClassVar[Vectorized[..., Any]]
    ppf: ClassVar[Vectorized[..., Any]]
    isf: ClassVar[Vectorized[..., Any]]

    def __init_subclass__(cls, scipy: bool = False) -> None:
        standard: Callable[..., Any] = vars(cls)["log_density"]
        shapes = [*inspect.signature(standard).parameters][1:]
        names = {
            **{k: v for k, v in vars(cls).items() if callable(v)},
            **{"low": cls.low, "high": cls.high, "inf": math.inf, "nan": math.nan},
            **{"log": math.log, "exp": math.exp},
        }
        for name, (first, body) in _METHODS.items():
            given = ", ".join([first, *shapes, "loc=0.0", "scale=1.0"])
            text = body.format(
                first=first,
                shapes="".join(f", {s}" for s in shapes),
                valid=f" and {cls.valid}" if cls.valid else "",
            )
            function = _function(cls, name, given, text, names)
            function.__doc__ = f"`{name}` of `{cls.__name__}`: see `Family`."
            made = names[name] = vectorize(function)
            setattr(cls, name, made)
            if scipy:
                overload(f"scipy.stats.{cls.__name__}.{name}")(made)


def with_probabilities(python: type[N]) -> type[N]:
    """Decorator: `pmf` and `cdf` beside their logarithms, for SciPy's names as well."""
    for name, log_name in (("pmf", "logpmf"), ("cdf", "logcdf")):
        found = vars(python).get(log_name)
        if found is None:
            continue
        given = ", ".join(inspect.signature(found).parameters)
        names = {"log_function": found, "exp": math.exp}
        body = f"return exp(log_function({given}))"
        made = vectorize(_function(python, name, given, body, names))
        setattr(python, name, made)
        overload(f"scipy.stats.{python.__name__}.{name}")(made)
    return python


def _function(
    owner: type, name: str, given: str, body: str, names: dict[str, Any]
) -> FunctionType:
    """A function of a class, whose text stands as if in a file beside this one."""
    title = f"{owner.__name__}.{name}"
    file = os.path.join(os.path.dirname(__file__), f"<{title}>")
    made = written(f"{name}({given})", body, names, owner.__module__, file)
    made.__qualname__ = title
    return made
