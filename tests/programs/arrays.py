"""Programs over arrays: comprehensions, sums, loops that carry arrays."""

import math

import numpy as np

import chadllvm as cl
from programs.case import case

RANDOM = np.random.default_rng(7)
TABLE = np.array([0.5, -1.0, 2.0])
SCALE = 1.5


def draw(*shape: int) -> np.ndarray:
    """Positive numbers away from zero, so that every program is smooth there."""
    return RANDOM.uniform(0.3, 1.7, shape)


@case(draw(5), draw(5))
@case(draw(0), draw(0))
@cl.jit
def dot(x: cl.f64[:], y: cl.f64[:]) -> float:
    return sum(x[i] * y[i] for i in range(len(x)))


@case(draw(6))
@cl.jit
def log_sum_exp(x: cl.f64[:]) -> float:
    m = max(x)
    return m + math.log(sum(math.exp(v - m) for v in x))


@case(draw(4, 3), draw(3))
@cl.jit
def matrix_vector(a: cl.f64[:, :], x: cl.f64[:]) -> float:
    y = [sum(a[i, j] * x[j] for j in range(a.shape[1])) for i in range(a.shape[0])]
    return sum(v * v for v in y)


@case(draw(3, 4))
@cl.jit
def rows(a: cl.f64[:, :]) -> float:
    total = 0.0
    for i in range(len(a)):
        row = a[i]
        total += row[0] * max(row) + sum(row)
    return total


@case(draw(5))
@cl.jit
def triangular(x: cl.f64[:]) -> float:
    """The inner sums have different lengths: a ragged tape."""
    return sum(
        math.exp(-x[i]) * sum(math.sin(x[j] * x[i]) for j in range(i))
        for i in range(len(x))
    )


@case(draw(4))
@cl.jit
def ragged_rows(x: cl.f64[:]) -> float:
    """Arrays of different lengths inside of a loop."""
    total = 0.0
    for i in range(1, len(x) + 1):
        part = [x[j] * x[j] + i for j in range(i)]
        total += part[i - 1] * part[0] * math.log(total + 2.0)
    return total


@case(draw(6), 4)
@cl.jit
def diffusion(u: cl.f64[:], steps: int) -> float:
    n = len(u)
    for _ in range(steps):
        u = [
            u[i] + 0.1 * (u[(i + 1) % n] - 2.0 * u[i] + u[(i - 1) % n]) * u[i]
            for i in range(n)
        ]
    return sum(v * v for v in u)


@case(draw(5), 3)
@cl.jit
def swapped_states(x: cl.f64[:], n: int) -> float:
    a = x
    b = [2.0 * v for v in x]
    for i in range(n):
        a, b = b, [a[j] * b[j] + i for j in range(len(a))]
    return sum(a[j] * b[j] for j in range(len(x)))


@case(draw(3))
@cl.jit
def growing_state(x: cl.f64[:]) -> float:
    """The carried array has another length after each step."""
    ys = [v for v in x]
    for k in range(3):
        ys = [ys[i % len(ys)] * x[0] + k for i in range(len(ys) + 2)]
    return sum(y * y for y in ys)


@case(draw(4, 4))
@cl.jit
def outer_products(a: cl.f64[:, :]) -> float:
    n = a.shape[0]
    b = [[sum(a[i, k] * a[k, j] for k in range(n)) for j in range(n)] for i in range(n)]
    return sum(b[i][i] * b[i][0] for i in range(n))


@case(draw(5), 0.7)
@cl.jit
def captured(x: cl.f64[:], y: float) -> float:
    return sum(TABLE[i % 3] * x[i] * SCALE for i in range(len(x))) * y


@case(draw(5))
@cl.jit
def pairs(x: cl.f64[:]) -> float:
    ps = [(x[i], x[i] * i) for i in range(len(x))]
    total = 0.0
    for i in range(len(x)):
        a, b = ps[i]
        total += a * b + ps[0][0]
    return total


@case(draw(5), np.array([3, 0, 3, 1]))
@cl.jit
def gathered(x: cl.f64[:], index: cl.i64[:]) -> float:
    return sum(x[index[i]] * x[index[i]] * i for i in range(len(index)))


@case(draw(5))
@cl.jit
def negative_index(x: cl.f64[:]) -> float:
    return x[-1] * x[0] - sum(x[i - 2] * x[i] for i in range(len(x)))


@case(draw(6), 2.0)
@cl.jit
def branches_in_comprehension(x: cl.f64[:], a: float) -> float:
    ys = [math.log(v) * a if v > 1.0 else v * v * a for v in x]
    zs = [y if i % 2 == 0 else -y * ys[0] for i, y in enumerate(ys)]
    return sum(zs) + min(zs) * max(ys)


@case(draw(4), draw(4), True)
@case(draw(4), draw(4), False)
@cl.jit
def array_choice(x: cl.f64[:], y: cl.f64[:], flag: bool) -> float:
    z = x if flag else y
    w = [v * 2.0 for v in x] if flag else y
    return z[1] * z[2] + w[0] * w[3]


@case(np.array([4.0, 0.0, 1.0]))
@cl.jit
def unused_element(x: cl.f64[:]) -> float:
    """Nobody uses the square root of zero, so its derivative does no harm."""
    ys = [math.sqrt(v) for v in x]
    return ys[0] * ys[2]


@cl.jit
def helper(x: float, row: cl.f64[:]) -> float:
    return x * sum(v * x for v in row)


@case(draw(3, 2), 0.4)
@cl.jit
def calls(a: cl.f64[:, :], x: float) -> float:
    return sum(helper(x * i, a[i]) for i in range(len(a))) + helper(x=x, row=a[0])


@case(draw(2, 3, 2))
@cl.jit
def rank_three(a: cl.f64[:, :, :]) -> float:
    b = [[[v * v for v in row] for row in plane] for plane in a]
    return sum(sum(sum(b[i][j]) * b[i][j][0] for j in range(3)) for i in range(2))


@case((draw(3), 0.3))
@cl.jit
def tuple_of_array(p: tuple[cl.f64[:], float]) -> float:
    x, s = p
    return sum(v * s for v in x) * x[0]


@case(draw(4))
@cl.jit
def loop_of_loops(x: cl.f64[:]) -> float:
    total = 0.0
    for i in range(len(x)):
        y = x[i]
        for _ in range(i + 1):
            z = [y * v for v in x]
            y = sum(z) / len(z) + math.sin(y)
        total += y * x[0]
    return total


@case(draw(4), draw(4), 3)
@cl.jit
def rotated_states(x: cl.f64[:], y: cl.f64[:], n: int) -> float:
    a, b, c = x, y, [v * v for v in x]
    total = 0.0
    for i in range(n):
        a, b, c = b, c, a
        total += a[i] * b[0]
    return total * c[1]


@case(draw(3, 2), 3)
@case(draw(3, 2), 0)
@cl.jit
def carried_rows(m: cl.f64[:, :], n: int) -> float:
    """The state's rows have a length that only the rows know."""
    s = m
    for i in range(n):
        s = [
            [
                math.sin(v * w)
                for v, w in zip(
                    s[j] if j < i else m[j], s[len(s) - 1 - j], strict=False
                )
            ]
            for j in range(len(s))
        ]
    return sum(row[0] * row[1] for row in s)


@case(draw(4), 3)
@cl.jit
def growing_by_one(x: cl.f64[:], n: int) -> float:
    s = x
    for _ in range(n):
        s = [math.sin(s[i % len(s)]) for i in range(len(s) + 1)]
    return sum(v * v for v in s)
