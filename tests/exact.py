"""The functions of calculus to fifty digits, by mpmath, and where to compare them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import mpmath as mp
import numpy as np

DIGITS = 50

Exact = Callable[..., Any]

# Numbers of every size, and some whose neighbours are of interest to somebody.
TINY = (5e-324, 3e-310, 2.3e-308, 1e-200, 1e-20, 1e-9)
HUGE = (1e9, 1e20, 1e200, 1.7e308)
MIDDLE = (0.01, 0.1, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.5, 10.0, 20.0)


def both(numbers: tuple[float, ...]) -> tuple[float, ...]:
    return (*numbers, *(-x for x in numbers))


def near(*centres: float) -> tuple[float, ...]:
    """On both sides of these numbers, at several distances."""
    steps = both((1e-15, 1e-9, 1e-4))
    return tuple(c + step * max(1.0, abs(c)) for c in centres for step in steps)


ALL = both((*TINY, *MIDDLE, *HUGE))
POSITIVE = (*TINY, *MIDDLE, *HUGE)
SMALL = both((*TINY, *MIDDLE, 100.0, 300.0))
ANGLES = (*SMALL, *near(math.pi, math.pi / 2, 1000 * math.pi), 1e6, 1e15)
UNIT = (*both((*TINY, 0.1, 0.5, 0.7, 1.0 - 1e-9)), *near(0.5))
OFF_POLES = (-0.5, -1.5, -2.25, -7.3, -20.6, *(x for x in near(-1.0, -4.0)))


@dataclass(frozen=True)
class Function:
    """A function with its exact form, arguments to compare at, and what it may lose.

    `ulps` bounds the relative error in units of 2^-52, `absolute` adds to the bound
    where the function has zeros that are no simple numbers.
    """

    name: str
    exact: Exact
    grid: tuple[tuple[Any, ...], ...]
    ulps: float = 4.0
    absolute: float = 0.0


def _one(
    name: str,
    exact: Exact,
    grid: tuple[float, ...],
    ulps: float = 4.0,
    zero: float = 0.0,
) -> Function:
    return Function(name, exact, tuple((x,) for x in grid), ulps, zero)


def _two(name: str, exact: Exact, xs: Any, ys: Any, ulps: float = 4.0) -> Function:
    return Function(name, exact, tuple((x, y) for x in xs for y in ys), ulps)


def _expit(x: Any) -> Any:
    return 1 / (1 + mp.exp(-x))


def _polygamma(n: Any, x: Any) -> Any:
    return mp.psi(int(n), x)


def _sinc(n: Any, x: Any) -> Any:
    """The n-th derivative of sin(x) / x, by its series."""
    n = int(n)

    def term(m: Any) -> Any:
        m = int(m) + (n + 1) // 2
        power = 2 * m - n
        return (-1) ** m * x**power / (mp.factorial(power) * (2 * m + 1))

    with mp.workdps(mp.mp.dps + int(abs(x))):
        return mp.nsum(term, [0, 200 + 3 * int(abs(x))], method="d")


def _hypot(x: Any, y: Any) -> Any:
    return mp.sqrt(x * x + y * y)


def _logaddexp(x: Any, y: Any) -> Any:
    return mp.log(mp.exp(x) + mp.exp(y))


def _copysign(x: Any, y: Any) -> Any:
    return abs(x) if y > 0 else -abs(x)


def _fmod(x: Any, y: Any) -> Any:
    quotient = x / y
    return x - y * (mp.floor(quotient) if quotient > 0 else mp.ceil(quotient))


def _remainder(x: Any, y: Any) -> Any:
    return x - y * mp.nint(x / y)


_PAIRS = (1e-300, 1e-9, 0.3, 1.0, 2.5, 1e5, 1e150)
_QUIET = (-30.0, -1.0, -1e-5, 0.0, 1e-9, 0.5, 3.0, 40.0)

FUNCTIONS: tuple[Function, ...] = (
    _one("exp", mp.exp, (*SMALL, 700.0, -740.0)),
    _one("exp2", lambda x: mp.power(2, x), (*SMALL, 1000.0, -1060.0)),
    _one("expm1", mp.expm1, (*SMALL, 700.0)),
    _one("log", mp.log, (*POSITIVE, *near(1.0))),
    _one("log2", lambda x: mp.log(x) / mp.log(2), (*POSITIVE, *near(1.0))),
    _one("log10", lambda x: mp.log(x) / mp.log(10), (*POSITIVE, *near(1.0))),
    _one("log1p", mp.log1p, (*POSITIVE, *(-x for x in TINY), -0.3, -0.9, -1 + 1e-12)),
    _one("sqrt", mp.sqrt, POSITIVE),
    _one("cbrt", mp.cbrt, POSITIVE),
    _one("root_cube", lambda x: x * mp.sqrt(x), (*TINY[3:], *MIDDLE, 1e200)),
    _one("sin", mp.sin, ANGLES),
    _one("cos", mp.cos, ANGLES),
    _one("tan", mp.tan, ANGLES),
    _one("asin", mp.asin, UNIT),
    _one("acos", mp.acos, UNIT),
    _one("atan", mp.atan, ALL),
    _one("sinh", mp.sinh, SMALL),
    _one("cosh", mp.cosh, SMALL),
    _one("tanh", mp.tanh, ALL),
    _one("asinh", mp.asinh, ALL),
    _one("acosh", mp.acosh, (*(x for x in POSITIVE if x > 1.0), 1 + 1e-12)),
    _one("atanh", mp.atanh, UNIT),
    _one("erf", mp.erf, ALL),
    _one("erfc", mp.erfc, both((*TINY, *MIDDLE, 26.0))),
    _one("gamma", mp.gamma, (*TINY[2:], *MIDDLE, 100.0, 171.0, *OFF_POLES), 20.0),
    _one(
        "lgamma",
        lambda x: mp.log(abs(mp.gamma(x))) if x < 1e6 else mp.loggamma(x).real,
        (*TINY, *MIDDLE, 1e9, 1e200, *near(1.0, 2.0), *OFF_POLES),
        20.0,
        2e-15,
    ),
    _one(
        "digamma",
        mp.digamma,
        (*TINY[2:], *MIDDLE, *HUGE, *near(1.4616321449683622), *OFF_POLES),
        20.0,
        1e-15,
    ),
    _one("expit", _expit, (*SMALL, 700.0, -700.0)),
    _one("log_expit", lambda x: -mp.log1p(mp.exp(-x)), SMALL),
    _one(
        "logit", lambda x: mp.log(x / (1 - x)), (*TINY, 0.1, 0.3, 0.8, *near(0.5, 0.25))
    ),
    Function(
        "polygamma",
        _polygamma,
        tuple(
            (n, x)
            for n in (1, 2, 3, 7)
            for x in (1e-30, 1e-3, *MIDDLE, 12.3, 1e5, 1e30, -0.3, -3.6, -10.75)
        ),
        30.0,
    ),
    Function(
        "sinc",
        _sinc,
        tuple(
            (n, x)
            for n in (0, 1, 2, 3, 8)
            for x in (1e-200, 1e-5, *both((0.5, 1.5, 2.9, 8.0, 40.25)))
        ),
        4.0,
        4e-16,
    ),
    _two("pow", mp.power, (1e-100, 0.5, 1.0, 3.7), (-2.5, -1.0, 0.5, 2.0, 3.1)),
    _two("hypot", _hypot, _PAIRS, (0.0, *both(_PAIRS))),
    _two("atan2", lambda y, x: mp.atan2(y, x), both(_PAIRS), both(_PAIRS)),
    _two("logaddexp", _logaddexp, _QUIET, (-35.0, -2.0, 0.25, 50.0), 6.0),
    _two("xlogy", lambda x, y: x * mp.log(y), both(_PAIRS), _PAIRS),
    _two("xlog1py", lambda x, y: x * mp.log1p(y), both(_PAIRS), (*_PAIRS, -0.5)),
    _two("copysign", _copysign, both(_PAIRS), (-1.0, 2.0)),
    _two("fmod", _fmod, both((0.3, 1.0, 7.25, 1e5)), both((0.1, 0.7, 3.0))),
    _two("remainder", _remainder, both((0.3, 1.1, 7.25, 1e5)), both((0.1, 0.7, 3.0))),
)


def value(function: Function, args: tuple[Any, ...]) -> Any:
    """The exact value at these doubles."""
    with mp.workdps(DIGITS):
        return function.exact(*map(mp.mpf, args))


def slope(function: Function, args: tuple[Any, ...], k: int, order: int = 1) -> Any:
    """The exact derivative along the k-th argument, by a difference of tiny step."""
    with mp.workdps(2 * DIGITS):
        numbers = [mp.mpf(arg) for arg in args]

        def along(x: Any) -> Any:
            return function.exact(*numbers[:k], x, *numbers[k + 1 :])

        size = abs(numbers[k]) if numbers[k] else mp.mpf(1)
        return mp.diff(along, numbers[k], order, h=size * mp.mpf(10) ** -30)


def error(found: float, wanted: Any, absolute: float = 0.0) -> float:
    """The error of a double in units of 2^-52 of the exact value.

    Below the normal numbers, and where the function is allowed an absolute error, the
    unit is that.
    """
    with mp.workdps(DIGITS):
        if not math.isfinite(found):
            return math.inf if abs(wanted) < mp.mpf(np.finfo(float).max) else 0.0
        unit = max(abs(wanted) * mp.mpf(2) ** -52, mp.mpf(5e-324))
        return float(max(abs(mp.mpf(found) - wanted) - absolute, 0) / unit)


def interior(function: Function) -> Iterator[tuple[Any, ...]]:
    """The arguments of moderate size: there the derivatives are too."""
    for args in function.grid:
        if all(isinstance(x, int) or 1e-3 < abs(x) < 1e3 for x in args):
            yield args
