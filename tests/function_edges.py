"""Values of the functions of calculus at edges: zeros, poles, infinities, NaN.

A zero in the last column is compared with its sign. What is not here is compared with
mpmath in `ops/test_calculus.py`.
"""

from __future__ import annotations

import math
from typing import Any

INF, NAN = math.inf, math.nan
TINY, HUGE = 5e-324, 1.7e308
HALF_PI = math.pi / 2

# For each function the arguments and the result; a NaN argument is tested apart.
ONE_ARGUMENT: dict[str, list[tuple[float, float]]] = {
    "exp": [(1000.0, INF), (-1000.0, 0.0), (INF, INF), (-INF, 0.0), (-0.0, 1.0)],
    "exp2": [(1024.0, INF), (-1100.0, 0.0), (INF, INF), (-INF, 0.0), (3.0, 8.0)],
    "expm1": [(1000.0, INF), (-1000.0, -1.0), (-INF, -1.0), (-0.0, -0.0), (0.0, 0.0)],
    "log": [(0.0, -INF), (-0.0, -INF), (-1.0, NAN), (INF, INF), (1.0, 0.0)],
    "log2": [(0.0, -INF), (-1.0, NAN), (INF, INF), (8.0, 3.0), (TINY, -1074.0)],
    "log10": [(0.0, -INF), (-1.0, NAN), (INF, INF), (1000.0, 3.0)],
    "log1p": [(-1.0, -INF), (-1.5, NAN), (INF, INF), (-0.0, -0.0), (0.0, 0.0)],
    "sqrt": [(-1.0, NAN), (-0.0, -0.0), (INF, INF), (TINY, 2.0**-537)],
    "cbrt": [(-0.0, -0.0), (-8.0, -2.0), (INF, INF), (-INF, -INF)],
    "root_cube": [(-1.0, NAN), (-0.0, 0.0), (1e300, INF), (INF, INF), (4.0, 8.0)],
    "sin": [(INF, NAN), (-INF, NAN), (-0.0, -0.0), (0.0, 0.0)],
    "cos": [(INF, NAN), (-INF, NAN), (0.0, 1.0)],
    "tan": [(INF, NAN), (-INF, NAN), (-0.0, -0.0), (0.0, 0.0)],
    "asin": [(1.0, HALF_PI), (-1.0, -HALF_PI), (1.5, NAN), (INF, NAN), (-0.0, -0.0)],
    "acos": [(1.0, 0.0), (-1.0, math.pi), (-1.5, NAN), (INF, NAN)],
    "atan": [(INF, HALF_PI), (-INF, -HALF_PI), (-0.0, -0.0)],
    "sinh": [(1000.0, INF), (-1000.0, -INF), (INF, INF), (-INF, -INF), (-0.0, -0.0)],
    "cosh": [(1000.0, INF), (-1000.0, INF), (INF, INF), (-INF, INF), (0.0, 1.0)],
    "tanh": [(INF, 1.0), (-INF, -1.0), (1000.0, 1.0), (-0.0, -0.0)],
    "asinh": [(INF, INF), (-INF, -INF), (-0.0, -0.0)],
    "acosh": [(1.0, 0.0), (0.5, NAN), (-2.0, NAN), (INF, INF), (-INF, NAN)],
    "atanh": [(1.0, INF), (-1.0, -INF), (1.5, NAN), (-1.5, NAN), (-0.0, -0.0)],
    "floor": [(-0.5, -1.0), (-0.0, -0.0), (2.7, 2.0), (INF, INF), (-1e300, -1e300)],
    "ceil": [(-0.5, -0.0), (-0.0, -0.0), (2.2, 3.0), (-INF, -INF), (1e300, 1e300)],
    "trunc": [(-2.7, -2.0), (-0.5, -0.0), (2.7, 2.0), (INF, INF)],
    "rint": [(0.5, 0.0), (1.5, 2.0), (2.5, 2.0), (-0.5, -0.0), (INF, INF)],
    "sign": [(0.0, 0.0), (-0.0, 0.0), (-TINY, -1.0), (INF, 1.0), (-INF, -1.0)],
    "erf": [(INF, 1.0), (-INF, -1.0), (-0.0, -0.0), (30.0, 1.0)],
    "erfc": [(INF, 0.0), (-INF, 2.0), (0.0, 1.0), (30.0, 0.0)],
    "gamma": [
        *[(0.0, INF), (-0.0, -INF), (-1.0, NAN), (-7.0, NAN), (-INF, NAN)],
        *[(INF, INF), (172.0, INF), (5.0, 24.0), (-1e17, NAN), (TINY, INF)],
        *[(-TINY, -INF), (-200.5, -0.0), (-201.5, 0.0)],
    ],
    "lgamma": [
        *[(0.0, INF), (-0.0, INF), (-1.0, INF), (-7.0, INF), (-INF, INF), (INF, INF)],
        *[(HUGE, INF), (1.0, 0.0), (2.0, 0.0), (-1e17, INF)],
    ],
    "digamma": [
        *[(0.0, -INF), (-0.0, INF), (-1.0, NAN), (-INF, NAN), (INF, INF)],
        *[(-1e17, NAN), (TINY, -INF), (-TINY, INF)],
    ],
    "expit": [(INF, 1.0), (-INF, 0.0), (0.0, 0.5), (1000.0, 1.0), (-1000.0, 0.0)],
    "log_expit": [(INF, 0.0), (-INF, -INF), (-1000.0, -1000.0), (1000.0, 0.0)],
    "logit": [(0.0, -INF), (-0.0, -INF), (1.0, INF), (0.5, 0.0), (1.1, NAN)],
}  # fmt: skip

TWO_ARGUMENTS: dict[str, list[tuple[Any, float, float]]] = {
    "pow": [
        *[(-8.0, 1 / 3, NAN), (0.0, -1.0, INF), (-0.0, -1.0, -INF)],
        *[(-1e200, 3.0, -INF), (1e200, 3.0, INF), (0.0, 0.0, 1.0), (NAN, 0.0, 1.0)],
    ],
    "hypot": [
        *[(0.0, 0.0, 0.0), (3.0, -4.0, 5.0), (INF, NAN, INF), (NAN, -INF, INF)],
        *[(NAN, 1.0, NAN), (HUGE, HUGE, INF), (3e-320, 4e-320, 5e-320)],
        *[(3e200, 4e200, 5e200)],
    ],
    "atan2": [
        *[(0.0, 0.0, 0.0), (0.0, -0.0, math.pi), (-0.0, -0.0, -math.pi)],
        *[(-0.0, 0.0, -0.0), (0.0, -1.0, math.pi), (1.0, 0.0, HALF_PI)],
        *[(INF, INF, math.pi / 4), (1.0, -INF, math.pi), (1.0, NAN, NAN)],
    ],
    "copysign": [(1.0, -0.0, -1.0), (-2.0, 0.0, 2.0), (INF, -1.0, -INF)],
    "fmod": [
        *[(7.0, -3.0, 1.0), (-7.0, 3.0, -1.0), (1.0, INF, 1.0), (1.0, 0.0, NAN)],
        *[(INF, 1.0, NAN), (-6.0, 3.0, -0.0), (NAN, 1.0, NAN)],
    ],
    "remainder": [
        *[(7.0, 4.0, -1.0), (6.0, 4.0, -2.0), (10.0, 4.0, 2.0), (1.0, INF, 1.0)],
        *[(1.0, 0.0, NAN), (INF, 1.0, NAN), (1.0, NAN, NAN)],
    ],
    "logaddexp": [
        *[(INF, INF, INF), (-INF, -INF, -INF), (INF, -INF, INF), (-INF, 3.0, 3.0)],
        *[(1000.0, 0.0, 1000.0), (NAN, 1.0, NAN), (1.0, NAN, NAN), (NAN, INF, NAN)],
    ],
    "xlogy": [
        *[(0.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, INF, 0.0), (0.0, NAN, NAN)],
        *[(1.0, 0.0, -INF), (2.0, 1.0, 0.0), (1.0, -1.0, NAN), (NAN, 1.0, NAN)],
    ],
    "xlog1py": [
        *[(0.0, -1.0, 0.0), (0.0, -2.0, 0.0), (0.0, NAN, NAN), (1.0, -1.0, -INF)],
        *[(2.0, 0.0, 0.0), (1.0, -2.0, NAN)],
    ],
    "polygamma": [
        *[(1, 0.0, INF), (1, -0.0, INF), (1, -3.0, INF), (2, 0.0, -INF)],
        *[(2, -0.0, INF), (2, -3.0, NAN), (0, 0.0, -INF), (0, -1.0, NAN)],
        *[(-1, 2.0, NAN), (1, INF, 0.0), (1, -INF, NAN), (3, NAN, NAN)],
        *[(1, TINY, INF), (10**9, 0.5, -INF), (10**15, 1e18, -0.0)],
    ],
    "sinc": [
        *[(0, 0.0, 1.0), (1, 0.0, 0.0), (2, 0.0, -1 / 3), (4, -0.0, 0.2)],
        *[(0, INF, 0.0), (3, -INF, 0.0), (-1, 1.0, NAN), (2, NAN, NAN)],
    ],
}

EDGES: list[tuple[str, tuple[Any, ...], Any]] = [
    *((name, (x,), y) for name, rows in ONE_ARGUMENT.items() for x, y in rows),
    *((name, (NAN,), NAN) for name in ONE_ARGUMENT),
    *((name, (x, y), z) for name, rows in TWO_ARGUMENTS.items() for x, y, z in rows),
    ("gcd", (12, -18), 6),
    ("gcd", (0, 0), 0),
    ("gcd", (-(1 << 63), 0), -(1 << 63)),
    ("gcd", (-(1 << 63), 6), 2),
    ("factorial", (0,), 1),
    ("factorial", (20,), math.factorial(20)),
]
