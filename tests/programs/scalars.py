"""Straight-line programs, branches and loops over scalars."""

import math

import numpy as np

import chadllvm as cl
from programs.case import case


@case(1.3)
@cl.jit
def square(x: float) -> float:
    return x * x


@case(0.7, -1.2)
@cl.jit
def shared(x: float, y: float) -> float:
    a = x * y
    b = a + x
    c = b * b - a
    return c * a + b


@case(0.7, 2.0, 0.3)
@cl.jit
def elementary(x: float, y: float, z: float) -> float:
    a = math.exp(x) + math.log(y) * math.sqrt(y)
    b = math.sin(a) + np.cos(z) - np.tanh(x * z)
    return a / b + abs(z - y) + y**z + x**3 + y**-2


@case(2.5, 4.0)
@case(4.0, 2.5)
@cl.jit
def extrema(x: float, y: float) -> float:
    return max(x, y, 3.0) * min(x * y, y) + np.minimum(x, y) - np.maximum(x, 2.0 * y)


@case(0.2, 3)
@case(0.9, 3)
@cl.jit
def literals_with_fractions(x: float, n: int) -> float:
    """A literal that comes first, or alone, keeps its fraction."""
    clipped = max(0.5, x) * min(0.75, x) + np.positive(0.25) * x
    return clipped + sum(0.5 for i in range(n)) * x


@case(7.3, 2.1)
@case(-7.3, 2.1)
@cl.jit
def remainders(x: float, y: float) -> float:
    return (x % y) * x + x // y


@case(0.5)
@case(1.5)
@case(2.5)
@cl.jit
def piecewise(x: float) -> float:
    if x < 1.0:
        y = x * x
    elif x < 2.0:
        y = 2.0 * x - 1.0
    else:
        z = math.sqrt(x)
        y = z * z * z
    return y * x


@case(0.4, True)
@case(0.4, False)
@cl.jit
def choice(x: float, flag: bool) -> float:
    a = x * 3.0 if flag else math.sin(x)
    b = a if flag and x > 0.0 else -a
    return a * b + (x if not flag or x > 1.0 else 2.0 * x)


@case(0.4)
@case(-0.4)
@cl.jit
def guard(x: float) -> float:
    if x < 0.0:
        return x * x
    y = math.exp(x)
    return y * x


@case(1.1, 10)
@case(1.1, 0)
@cl.jit
def power_loop(x: float, n: int) -> float:
    y = 1.0
    for _ in range(n):
        y *= x
    return y


@case(0.3, 0.9, 20)
@cl.jit
def coupled(x: float, v: float, n: int) -> float:
    h = 0.1
    for i in range(n):
        a = -math.sin(x) - 0.1 * v
        if i % 3 == 0:
            a = a + 0.05 * x
        x, v = x + h * v, v + h * a
    return x * v


@case(1.7, 6)
@cl.jit
def newton_root(x: float, n: int) -> float:
    y = x
    for _ in range(n):
        y = y - (y * y * y - x) / (3.0 * y * y)
    return y


@case(0.9, 5, 4)
@cl.jit
def nested_loops(x: float, n: int, m: int) -> float:
    total = 0.0
    for i in range(n):
        part = x
        for j in range(i, m + i):
            part = part * math.cos(x * j) + 0.1 * i
        total = total + part * part
    return total


@case((0.3, (1.2, 2)), 0.5)
@cl.jit
def tuples(p: tuple[float, tuple[float, int]], x: float) -> float:
    a, (b, n) = p
    q = (a * b, (x, b + n))
    for _ in range(n):
        q = (q[1][0] * a, (q[0] + x, q[1][1] * 0.5))
    u, (v, w) = q
    return u * v + w


@case(2.1, 3)
@cl.jit
def integers(x: float, n: int) -> float:
    k = (7 * n - 4) // 3 % 5
    m = -n // 2 + n**2
    return x * k + m / 2 - float(n) * x + int(x * 2.5)


@case(0.0)
@cl.jit
def untaken_branch(x: float) -> float:
    """The derivative of the square root at zero is not asked for."""
    root = math.sqrt(x)
    return root if x > 1.0 else x * 3.0


@case(5)
@cl.jit
def only_integers(n: int) -> int:
    total = 0
    for i in range(n):
        total += i * i
    return total


@case(0.0, 3)
@cl.jit
def untouched_in_loop(x: float, n: int) -> float:
    """The last root is computed and not used: its derivative is not asked for."""
    total = 0.0
    y = x + 1.0
    for i in range(n):
        total += y * i
        y = math.sqrt(y - 1.0) if i == n - 1 else y + 0.0 * x
    return total + x
