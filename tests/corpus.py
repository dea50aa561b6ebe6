"""Small Python programs with inputs: what the language means is what Python computes.

Each stage runs all of them: their values must be those of plain Python. A program is a
function; the arguments of a case are NumPy arrays, numbers and tuples of these.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from math import exp as e
from typing import Any

import numpy as np
from jitted import Jitted

X = np.array([0.5, -1.25, 2.0, 3.5])
Y = np.array([1.5, 0.25, -2.0, 4.0])
M = np.array([[1.0, 2.0, 3.0], [4.0, -5.0, 6.0]])
N = np.array([3, -1, 4, 1, 5])
FLAGS = np.array([True, False, True])
EMPTY = np.zeros(0)

SCALE = 2.5
OFFSETS = np.array([10, 20, 30], dtype=np.int32)
WEIGHTS = np.asfortranarray(np.array([[1.0, 2.0], [3.0, 4.0]]))
PAIR = (3, WEIGHTS)


@dataclass(frozen=True)
class Case:
    """One call of a program."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    name: str


CASES: list[Case] = []


def case(*args: Any) -> Callable[[Any], Any]:
    """Decorator: enter a call of the program with these arguments."""

    def enter(function: Any) -> Any:
        same = sum(known.function is function for known in CASES)
        name = function.__name__ + (f"_{same + 1}" if same else "")
        CASES.append(Case(function, args, name))
        return function

    return enter


# ---- scalars ---------------------------------------------------------------------


@case(7.5, 2.0)
@case(-7.5, 2.0)
@case(7, 2)
@case(-7, 2)
@case(7, -2)
@case(7.5, -2)
@case(True, 2.0)
def operators(x, y):
    return x + y, x - y, x * y, x / y, x // y, x % y, -x, +y


@case(3, True)
@case(True, True)
@case(False, True)
def booleans_are_integers(x, y):
    return x + y, x * y, -y, abs(y), y // y


@case(1.5, 3)
@case(-1.5, 2)
@case(2, 5)
def powers(x, n):
    return x**2, x**n, x**0, 2**n, x**-2, 2**-1, abs(x) ** 0.5, abs(x) ** 2.5


@case(2.0)
@case(3)
def built_in_power(x):
    return pow(x, 2), pow(2.0, x), pow(x, 0.5)


@case(1.0, 2.0)
@case(2, 2.0)
@case(3, 2)
@case(True, False)
def comparisons(x, y):
    return x < y, x <= y, x > y, x >= y, x == y, x != y


@case(0.0, 1.0, 2.0)
@case(0.0, 3.0, 2.0)
@case(5.0, 1.0, 0.0)
@case(1, 1, 1)
def chained_comparisons(x, y, z):
    return x < y < z, x <= y > z, x == y == z, x < y < z < 3


@case(0, 5)
@case(2, 5)
def short_circuits(n, m):
    return n != 0 and m // n > 1, n == 0 or m // n > 1, not n, not (n or m)


@case(0, 2.5)
@case(3, 2.5)
def truth_of_numbers(n, x):
    return (n and x) + (n or x), (1.0 if n else 2.0), bool(n), bool(x)


@case(1.0)
@case(-1.0)
def conditional(x):
    return x if x > 0 else -2 * x, 1 if x > 0 else 2.5, (1, x) if x > 0 else (0.5, 2)


@case(2.7)
@case(-2.7)
@case(2)
@case(True)
def conversions(x):
    return float(x), int(x), bool(x), math.floor(x), math.ceil(x), math.trunc(x)


@case(0.7)
@case(2)
def elementary(x):
    y = math.exp(x) + np.exp(-x) + e(x)
    z = math.log(x) + np.log(x) + math.sqrt(x) + np.sqrt(x)
    w = math.sin(x) + np.cos(x) + math.tanh(x) + math.pow(x, 1.5) + np.power(x, 2)
    return y, z, w, math.fabs(-x), np.fabs(-x), np.abs(-x), np.square(x), abs(-x)


@case(1.0, 2.0, 3.0)
@case(3, 2.5, 2)
@case(math.nan, 1.0, 2.0)
@case(1.0, math.nan, 2.0)
def extremes(x, y, z):
    return min(x, y), max(x, y), min(x, y, z), max(x, y, z), min((x, y)), max((z, y))


@case(1.0, 2.0)
@case(3, 2)
@case(math.nan, 1.0)
def numpy_extremes(x, y):
    return np.minimum(x, y), np.maximum(x, y), np.where(x < y, x, y)


@case(2.0)
def constants(x):
    return x * math.pi, np.pi, math.e, math.inf, -np.inf, SCALE, math.tau


# ---- statements ------------------------------------------------------------------


@case(2.0)
def rebinding(x):
    """Variables may change their type from statement to statement."""
    y = 1
    y = y + 2.5
    y = (y, x)
    a, b = y
    a, b = b, a
    c = d = a + b
    x += c
    x *= 2
    x -= d
    x /= 4
    n: int = 3
    z: float = n
    w: float  # noqa: F842
    (p, q), r = (a, b), c
    pass
    return x, y, a, b, c, n, z, p, q, r


@case(1.0, 2.0)
@case(-1.0, 2.0)
@case(-1.0, -2.0)
def branches(x, y):
    z = 1
    if x > 0:
        z = x
        w = 2
    elif y > 0:
        w = 3.5
    else:
        z = -x
        w = 1
    return z * w


@case(1.0)
@case(-1.0)
def merged_tuples(x):
    p = (1, 2)
    if x > 0:
        p = (x, 3)
        local = 5
        p = (p[0] * local, p[1])
    return p


@case(1.0)
@case(-1.0)
@case(0.0)
def guards(x):
    if x < 0:
        return -1
    y = x + 1
    if x == 0:
        z = 3.0
        return y * z
    else:
        y = y * 2
    return y


@case(1.0)
@case(-1.0)
@case(5.0)
def nested_returns(x):
    if x > 0:
        y = 2.0
        if x > 3:
            return y
        elif x > 2:
            return 2 * y
        y = y + 1
    else:
        return x
    return x * y


@case(2)
def dead_code(x):
    return x
    return x + undefined_name  # noqa: F821


@case(3.0)
def unicode_names(größe):
    """Wörter mit Umlauten: die Spalten zählen Zeichen."""
    return größe * 2


# ---- loops -----------------------------------------------------------------------


@case(5)
@case(0)
@case(-3)
def sum_loop(n):
    s = 0
    for i in range(n):
        s += i * i
    return s


@case(1, 10, 3)
@case(10, 1, -3)
@case(10, 1, 3)
@case(0, 9, 3)
@case(9, 0, -3)
@case(5, 5, 1)
def ranges(a, b, c):
    s = 0
    for i in range(a, b, c):
        s = s * 10 + i
    for i in range(a, b):
        s = s + 2 * i
    for i in range(b, a, -2):
        s = s - i * i
    return s, [i for i in range(a, b, c)], [i for i in range(a, b)]


@case(X)
@case(EMPTY)
def promoted_state(x):
    """`s` and `t` are integers before the loop and floats after one or two steps."""
    s = 0
    t = 0
    for v in x:
        t = s
        s = s + v
    return s, t


@case(X)
def nested_loops(x):
    total = 0
    last = 0
    for i in range(len(x)):
        row = 0
        for j in range(i):
            row += x[j]
            last = j
        total += row * x[i]
    return total, last


@case(0.5, 10)
def state_of_several(x, n):
    p = (x, 1)
    q = 0.0
    flag = False
    for i in range(n):
        a, b = p
        p = (a * b + q, 2)
        q = q + p[0]
        if i > 3:
            flag = True
    return p, q, flag


@case(X)
def carried_array(x):
    for i in range(3):
        x = [v * 0.5 + i for v in x]
    return x


@case(X, Y)
def iterators(x, y):
    s = 0.0
    for i, v in enumerate(x):
        s += i * v
    for a, b in zip(x, y, strict=False):
        s += a * b
    for i, (a, b) in enumerate(zip(x, y, strict=False), 2):
        s += i * a - b
    for v in reversed(x):
        s = 0.5 * s + v
    for i in reversed(range(len(x))):
        s = 0.5 * s + x[i]
    for k, v in enumerate(x, start=3):
        s += k * v
    return s


@case(4)
def loop_variable_defined_before(n):
    i = -1
    for i in range(n):  # noqa: B007
        pass
    return i


@case(5, 2.0)
@case(0, 2.0)
def conditional_in_loop(n, x):
    best = 0.0
    index = -1
    for i in range(n):
        v = x * i - i * i / 3
        if v > best:
            best = v
            index = i
        elif i == 0:
            best = -1
    return best, index


@case(6)
def fibonacci(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


@case(M)
def rows(m):
    s = 0.0
    for row in m:
        t = 1.0
        for v in row:
            t *= v
        s += t
    return s


@case(3)
def reassigned_loop_variable(n):
    s = 0
    for i in range(n):
        i = i * 2.5
        s += i
    return s


# ---- arrays ----------------------------------------------------------------------


@case(X, 1)
@case(X, -1)
@case(N, 2)
def indexing(x, i):
    return x[i], x[-1], x[0], x[i - 1], x[x.shape[0] - 1], len(x), x.ndim, x.size


@case(M, 1, 2)
@case(M, -1, -2)
def matrices(m, i, j):
    a, b = m.shape
    return m[i, j], m[i][j], m[i][-1], len(m), len(m[i]), m.shape[1], a, b, m.size


@case(M, 0)
def row_is_an_array(m, i):
    row = m[i]
    return row[1] + sum(row) + sum(v * v for v in m[1]), [v + 1 for v in m[i]]


@case(X, 2.0)
def comprehensions(x, c):
    y = [v * c for v in x]
    z = [x[i] - y[i] for i in range(len(x))]
    w = [1 for _ in range(3)]
    f = [v > 0 for v in x]
    return y, z, w, f


@case(X, 2)
@case(EMPTY, 2)
def nested_comprehensions(x, n):
    a = [[v * (i + 1) for v in x] for i in range(n)]
    b = [[[1.0 * i * j * k for i in range(2)] for j in range(3)] for k in range(n)]
    return a, b, len(a), len(a[0])


@case(X, Y)
def tuples_in_arrays(x, y):
    pairs = [(a, (b, i)) for i, (a, b) in enumerate(zip(x, y, strict=False))]
    s = 0.0
    for a, (b, i) in pairs:
        s += a * b * i
    return s + pairs[1][1][0] + pairs[-1][0], len(pairs)


@case(X, N)
def sums(x, n):
    a = sum(x) + sum(v * v for v in x) + sum(x[i] * i for i in range(len(x)))
    b = sum(n), sum(range(5)), sum(v > 2 for v in n), sum(x, 1), sum((1, 2, 3))
    c = sum([v for v in n]), sum((v for v in x), 0.5), sum(n, start=2), np.sum(x)
    return a, b, c


@case(X, N)
def minima(x, n):
    a = min(x), max(x), min(n), max(v * v for v in x), min(i - 3 for i in n)
    return a, max([v for v in n]), min(abs(v) for v in x), max(range(4))


@case(M)
def double_sums(m):
    s = sum(sum(v for v in row) for row in m)
    t = sum(sum(m[i, j] * (i + j) for j in range(3)) for i in range(2))
    return s, t, sum(max(row) for row in m)


@case(FLAGS)
def flags(x):
    s = 0
    for v in x:
        if v:
            s += 1
    return s, x[0], sum(x), max(x) == 1


@case((1.0, (X, 2)))
def tuple_argument(p):
    a, (x, n) = p
    return a + x[n], p[0], p[1][0][-1], len(p), p[-1][1]


@case(X)
def shadowing(x):
    """A comprehension's variable is its own."""
    i = 7
    y = [i * 2 for i in range(3)]
    sum = y[1]
    return i, y, sum


# ---- what stands outside ---------------------------------------------------------


@Jitted
def square(x: float):
    return x * x


@Jitted
def scaled(x, scale=2, offset: float = 1, weights=OFFSETS):
    return x * scale + offset + weights[0]


@Jitted
def norm(x):
    return math.sqrt(sum(square(v) for v in x))


@Jitted
def swap(p):
    a, b = p
    return b, a


@case(3)
def calls(n):
    a = scaled(n), scaled(n, 3), scaled(n, offset=2), scaled(offset=n, x=1.5, scale=n)
    return a, square(n), swap((n, 2.5)), swap(swap((n, 2.5)))


@case(X, 3)
def calls_with_arrays(x, n):
    """One function at two types, and with one that it calls itself."""
    return norm(x), norm([2 * v for v in x]), norm([i for i in range(n)])


@case(2)
def captured_arrays(i):
    return WEIGHTS[0, 1] * SCALE + OFFSETS[i], PAIR[0] + PAIR[1][1][0], sum(OFFSETS)


def _closure(factor: Any, table: np.ndarray) -> Callable[..., Any]:
    def closed_over(x):
        return factor * x + table[0], [factor + v for v in table]

    return closed_over


case(2.0)(_closure(3, X))
case(2)(_closure(np.float64(0.5), N))
