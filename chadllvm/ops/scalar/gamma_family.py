"""The logarithm of gamma, its derivatives, and those of sin(x) / x, in Python.

That is what the interpreter computes. The formulas are those of the runtime's
`special.c`, which says more of them; numbers in brackets are those of the Digital
Library of Mathematical Functions.
"""

from __future__ import annotations

import math

_ROOT, _ROOT_REST = 1.4616321449683622, 9.549995429965697e-17

# The Taylor coefficients of digamma at its root [5.15.1].
_AT_ROOT = (
    *(0.9676722454476212, -0.4427631689835921, 0.258499760955651),
    *(-0.16394270544240652, 0.10782405069126237, -0.07219956125645471),
    *(0.04880428816414311, -0.03316112647484736, 0.022597648232218104),
    *(-0.01542476590494896, 0.010538791616612175, -0.007204534386356869),
    *(0.004926781395729853, -0.003369801655439328, 0.002305126326734928),
    *(-0.0015769367714301972, 0.0010788252019162967, -0.0007380709389960052),
    *(0.000504953265834602, -0.0003454680251063077),
)

# Euler's constant γ, and the terms that a series in (t / 2)^k with |t| <= 1/2 needs.
_EULER = 0.5772156649015329
_MOST_TERMS = 26

# Bernoulli's numbers B_2, B_4, …
_BERNOULLI = (
    *(1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510),
    *(43867 / 798, -174611 / 330, 854513 / 138, -236364091 / 2730),
)


# The highest derivative of sin(x) / x: its cost grows with the order.
MOST_SINC = 10000


def is_pole(x: float) -> bool:
    """Whether x is one of 0, -1, -2, …"""
    return x <= 0.0 and math.isfinite(x) and x == math.floor(x)


def lgamma(x: float) -> float:
    """log |gamma x|: +inf at 0, -1, -2, … and at both infinities.

    Python's own has an absolute error, which is all that is left about 1 and 2.
    """
    if is_pole(x):
        return math.inf
    if 1.5 <= x <= 2.5:
        return _lgamma_at_two(x - 2.0)
    if 0.5 <= x < 1.5:
        return _lgamma_at_two(x - 1.0) - math.log1p(x - 1.0)
    try:
        return math.lgamma(x)
    except OverflowError:
        return math.inf


def _lgamma_at_two(t: float) -> float:
    """log gamma(2 + t): (1 - γ) t + Σ (-1)^k (zeta(k) - 1) t^k / k [5.7.3]"""
    terms = (
        _scaled_zeta(k - 1, 2.0) / math.factorial(k) * (-t) ** k
        for k in range(_MOST_TERMS, 1, -1)
    )
    return sum(terms, 0.0) + (1.0 - _EULER) * t


def digamma(x: float) -> float:
    """The derivative of the logarithm of gamma."""
    if x > 0.0:
        return _digamma_of_positive(x)
    if x == 0.0:
        return math.copysign(math.inf, -x)
    if is_pole(x) or not math.isfinite(x):
        return math.nan
    tangent = math.tan(math.pi * math.remainder(x, 1.0))
    return _digamma_of_positive(1.0 - x) - math.pi / tangent


def _digamma_of_positive(x: float) -> float:
    """Recurrence up to 10 [5.5.2], then the asymptotic series [5.11.2]."""
    if abs(x - _ROOT) < 0.25:
        return _digamma_at_root(x)
    steps = 0.0
    while x < 10.0:
        steps += 1.0 / x
        x += 1.0
    square, total = 1.0 / x / x, 0.0
    for k in range(8, 0, -1):
        total = square * (_BERNOULLI[k - 1] / (2 * k) + total)
    return math.log(x) - 0.5 / x - total - steps


def _digamma_at_root(x: float) -> float:
    t, total = (x - _ROOT) - _ROOT_REST, 0.0
    for coefficient in reversed(_AT_ROOT):
        total = coefficient + t * total
    return t * total


def polygamma(n: int, x: float) -> float:
    """The n-th derivative of digamma; NaN for a negative n."""
    if n == 0:
        return digamma(x)
    if n < 0 or x != x or x == -math.inf:
        return math.nan
    if x == math.inf:
        return 0.0
    odd = n % 2 == 1
    if x > 0.0:
        size = _scaled_zeta(n, x)
        return size if odd else -size
    if not is_pole(x):
        return _polygamma_of_negative(n, x)
    if odd:
        return math.inf
    return math.copysign(math.inf, -x) if x == 0.0 else math.nan


def _polygamma_of_negative(n: int, x: float) -> float:
    rest = math.remainder(x, 1.0)
    below, above = (rest, 1.0 - rest) if rest > 0.0 else (1.0 + rest, -rest)
    right = _scaled_zeta(n, below)
    left = _scaled_zeta(n, above) - _scaled_zeta(n, 1.0 - x)
    return right + left if n % 2 == 1 else left - right


def _scaled_zeta(n: int, x: float) -> float:
    """n! zeta(n+1, x): terms of the series [25.11.1], then [5.15.9]."""
    a, head = x, 0.0
    while a < n + 10.0:
        term = math.pow(x / a, n + 1.0)
        head += term
        if term * a < 1e-17:
            return _factorial_over_power(n, x) * head
        a += 1.0
    tail = _factorial_over_power(n - 1, a) * _zeta_series(float(n), a)
    return tail if head == 0.0 else _factorial_over_power(n, x) * head + tail


def _factorial_over_power(n: int, x: float) -> float:
    """n! / x^(n+1)"""
    if n > 200:
        logarithm = math.lgamma(n + 1.0) - (n + 1.0) * math.log(x)
        return math.exp(logarithm) if logarithm < 709.78 else math.inf
    product = 1.0 / x
    for k in range(1, n + 1):
        product *= k / x
    return product


def _zeta_series(n: float, a: float) -> float:
    total, factor = 1.0 + n / (2.0 * a), n / a
    for k, bernoulli in enumerate(_BERNOULLI):
        factor *= (n + 2.0 * k + 1.0) / a
        total += bernoulli / math.factorial(2 * k + 2) * factor
        factor *= (n + 2.0 * k + 2.0) / a
    return total


def sinc(n: int, x: float) -> float:
    """The n-th derivative of sin(x) / x; NaN for a negative or a huge n."""
    if not 0 <= n <= MOST_SINC or x != x:
        return math.nan
    if math.isinf(x):
        return 0.0
    if x == 0.0:
        return (1.0, 0.0, -1.0, 0.0)[n % 4] / (n + 1)
    size = abs(x)
    turned = (math.sin(size), math.cos(size), -math.sin(size), -math.cos(size))
    f = turned[0] / size
    if size > n - 0.5:
        for k in range(1, n + 1):
            f = (turned[k % 4] - k * f) / size
    else:
        f = 0.0
        for k in range(n + 12 + int(9.0 * math.sqrt(n)), n, -1):
            f = (turned[k % 4] - size * f) / k
    return -f if n % 2 == 1 and x < 0.0 else f
