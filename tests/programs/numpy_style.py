"""Programs as a user of NumPy writes them: whole arrays, slices, masks, reductions."""

from itertools import accumulate

import numpy as np

import chadllvm as cl
from programs.case import case

RANDOM = np.random.default_rng(11)
INDICES = np.array([2, 0, -1, 2])
KNOTS = np.array([-2.0, 0.5, 1.0, 5.0])
HEIGHTS = np.array([1.0, 2.0, -1.0, 0.5])


def draw(*shape: int) -> np.ndarray:
    """Numbers away from zero and from each other, so that every program is smooth."""
    return RANDOM.uniform(0.3, 1.7, shape) * RANDOM.choice([-1.0, 1.0], shape)


def positive(*shape: int) -> np.ndarray:
    return RANDOM.uniform(0.3, 1.7, shape)


# ---- elementwise -----------------------------------------------------------------


@case(draw(5), draw(5))
@case(draw(1), draw(5))
@case(draw(5), draw(1))
@case(draw(0), draw(0))
@cl.jit
def elementwise(x: cl.f64[:], y: cl.f64[:]) -> float:
    z = (x - y) ** 2 * 0.5 + np.exp(-x * y) / (1.0 + np.abs(y))
    return np.sum(z * x - 3)


@case(draw(3, 4), draw(4), draw(3))
@cl.jit
def broadcasting(a: cl.f64[:, :], x: cl.f64[:], y: cl.f64[:]) -> float:
    b = a * x + y[:, None]
    return np.sum(b * b - 2.0 * x[None, :] * y[:, None])


@case(draw(3, 1), draw(1, 4), draw(3, 4))
@case(draw(3, 4), draw(3, 4), draw(3, 4))
@case(draw(1, 1), draw(1, 4), draw(3, 1))
@cl.jit
def sizes_of_one(a: cl.f64[:, :], b: cl.f64[:, :], c: cl.f64[:, :]) -> float:
    """Which dimensions are stretched is seen at run time."""
    d = a * b
    return np.sum(d * d - c)


@case(positive(6))
@cl.jit
def chosen(x: cl.f64[:]) -> float:
    y = np.where(x > 1.0, np.sqrt(x), x**2)
    z = np.where((x > 0.5) & ~(x > 1.5), y, 0.0)
    return np.sum(y * z) + np.sum(np.clip(x, 0.61, 1.43) ** 2) + np.sum((x > 1.0) * x)


@case(np.array([4, 7, -3]), draw(3))
@cl.jit
def integers_and_floats(n: cl.i64[:], x: cl.f64[:]) -> float:
    m = n // 2 + n % 3 - n * 2
    return np.sum(m * x) + np.sum(n**2) + (m + 1.5).sum() + np.sum(n > m)


@case(draw(4))
@cl.jit
def gradient_descent(x: cl.f64[:]) -> float:
    """Arrays carried from step to step."""
    momentum = np.zeros_like(x)
    for k in range(5):
        momentum = 0.9 * momentum - 0.05 * (2.0 * x + np.roll(x, 1) / (k + 1))
        x = x + momentum
    return np.sum(x**2)


@case(draw(5), 0.7)
@cl.jit
def scalar_and_array(x: cl.f64[:], c: float) -> float:
    y = c / (x + 2.0) - x / c
    return np.sum(y if c > 0.0 else -y) * c


# ---- slices ----------------------------------------------------------------------


@case(draw(7))
@case(draw(2))
@case(draw(0))
@cl.jit
def slices(x: cl.f64[:]) -> float:
    a = np.sum(x[1:] * x[:-1]) + np.sum(x[::2]) - np.sum(x[1::2] ** 2)
    b = np.sum(x[::-1] * x) + np.sum(x[-3:] ** 2) + np.sum(x[5:1:-2] ** 3)
    return a * b + np.sum(x[2:100]) + np.sum(x[-100:3] ** 2) + np.sum(x[4:2])


@case(draw(6), 1, 4)
@case(draw(6), -5, -1)
@case(draw(6), 4, 2)
@case(draw(6), -90, 90)
@cl.jit
def slices_by_variables(x: cl.f64[:], low: int, high: int) -> float:
    part = x[low:high]
    back = x[high:low:-1]
    return np.sum(part * part) + len(part) * x[0] + np.sum(back * back) * len(back)


@case(draw(3, 4), 1)
@case(draw(3, 4), -1)
@cl.jit
def rows_and_columns(a: cl.f64[:, :], k: int) -> float:
    b = a[:, k] * a[::-1, 0] + a[0, 1] * a[..., -1]
    return np.sum(b) + np.sum(a[k] * a[k, ::-1]) + a[:, 1:][0][1] + np.sum(a[:2, ::3])


@case(draw(6))
@cl.jit
def heat(u: cl.f64[:]) -> float:
    """A stencil, with fixed ends."""
    for _ in range(4):
        inner = u[1:-1] + 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u = np.concatenate((u[:1], inner, u[-1:]))
    return np.sum(u**2)


@case(draw(5))
@cl.jit
def views_with_names(x: cl.f64[:]) -> float:
    y = x[1:]
    z = y[::-1]
    total = 0.0
    for i in range(len(y)):
        total += y[i] * z[i]
    return total + sum(a * b for a, b in zip(x[2:], z, strict=False)) + max(z[:2])


# ---- index arrays and masks ------------------------------------------------------


@case(draw(4), INDICES)
@cl.jit
def gather(x: cl.f64[:], index: cl.i64[:]) -> float:
    y = x[index]
    return np.sum(y * y[::-1]) + np.sum(x[INDICES] ** 3) + np.take(x, index)[0]


@case(draw(3, 4), np.array([2, 0]), np.array([1, 3]))
@cl.jit
def gather_rows(a: cl.f64[:, :], i: cl.i64[:], j: cl.i64[:]) -> float:
    pairs = a[i, j]
    block = a[i[:, None], j]
    columns = np.sum(a[:, j] ** 2) + np.sum(np.take(a, j, axis=1) ** 3)
    return np.sum(pairs**2) + columns + np.sum(a[i] * a[1]) + np.sum(block * block)


@case(draw(7))
@case(-positive(3))
@cl.jit
def masked(x: cl.f64[:]) -> float:
    kept = x[x > 0.0]
    return np.sum(kept**2) + len(kept) * x[0] + np.sum(x[np.flatnonzero(x < 0.0)])


@case(draw(3, 4), np.array([True, False, True]))
@cl.jit
def masked_rows(a: cl.f64[:, :], rows: cl.boolean[:]) -> float:
    (places,) = np.nonzero(rows)
    chosen = a[rows]
    return np.sum(chosen * a[places]) + np.sum(a[a > 0.5] ** 3) + np.sum(a[:, 1][rows])


# ---- reductions ------------------------------------------------------------------


@case(draw(3, 4))
@cl.jit
def sums(a: cl.f64[:, :]) -> float:
    rows, columns = np.sum(a, axis=1), a.sum(axis=0)
    both = np.sum(a**2, axis=(0, 1)) + np.sum(a, axis=-1, keepdims=True)[0, 0]
    return np.sum(rows**2) * np.sum(columns**3) + both + np.sum(a.sum(keepdims=True))


@case(draw(2, 3, 4))
@cl.jit
def sums_of_rank_three(a: cl.f64[:, :, :]) -> float:
    b = a.sum(axis=1) * a.sum(axis=(0, 1)) + a.mean(axis=2).sum()
    return np.sum(b**2) + np.sum(a.sum(axis=(0, 2)) ** 2) + np.sum(a[1] * a[:, 0, None])


@case(draw(4, 3), draw(4, 3))
@cl.jit
def attracted(x: cl.f64[:, :], v: cl.f64[:, :]) -> float:
    for _ in range(3):
        d = x[:, None, :] - x[None, :, :]
        r = np.sum(d * d, axis=2) + 0.5
        v = v - 0.1 * np.sum(d / (r * np.sqrt(r))[:, :, None], axis=1)
        x = x + 0.1 * v
    return np.sum(x * x) + np.sum(v * v)


@case(draw(4, 3))
@cl.jit
def standardised(a: cl.f64[:, :]) -> float:
    z = (a - a.mean(axis=0)) / (a.std(axis=0) + 0.1)
    rest = a - a.mean(axis=1, keepdims=True)
    return np.sum(z**3) + np.sum(rest**4) + a.var() + np.sum(np.var(a, axis=1, ddof=1))


@case(draw(5))
@case(np.array([0.5, 0.0, -2.0, 3.0]))
@case(np.array([0.0, 0.0, 2.0]))
@cl.jit
def products(x: cl.f64[:]) -> float:
    """The derivative by a zero factor is the product of the others."""
    return np.prod(x) + np.prod(x[1:]) * 2.0 + np.sum(np.cumprod(x))


@case(draw(3, 4))
@cl.jit
def product_along(a: cl.f64[:, :]) -> float:
    return np.sum(a.prod(axis=0) ** 2) + np.sum(np.prod(a, axis=1)) + np.prod(a[0])


@case(draw(3, 4))
@cl.jit
def extrema(a: cl.f64[:, :]) -> float:
    rows = np.max(a, axis=1) * a.min(axis=1)
    spread = np.max(a) - np.min(a) + np.ptp(a, axis=0)[1]
    return np.sum(rows) + spread + np.sum(a.max(axis=0) ** 2)


@case(draw(3, 4))
@cl.jit
def places_of_extrema(a: cl.f64[:, :]) -> float:
    best = np.argmax(a)
    first = a.argmin(axis=0)
    return a[best // 4, best % 4] ** 2 + np.sum(a[first, np.arange(4)] ** 2) + best


@case(draw(5))
@cl.jit
def truths(x: cl.f64[:]) -> float:
    some = 1.0 if np.any(x > 1.0) else 2.0
    every = 1.0 if all(v > -2.0 for v in x) and not any(x > 5.0) else 2.0
    return some * x[0] + every * x[1] + np.count_nonzero(x > 0.0) * x[2] + np.all(x < 2)


@case(draw(3, 4))
@cl.jit
def running_sums(a: cl.f64[:, :]) -> float:
    b = np.cumsum(a, axis=0) * np.cumsum(a, axis=1) + np.cumprod(a, axis=1)
    return np.sum(b**2) + np.sum(np.cumsum(a) ** 2) + np.sum(np.diff(a) ** 2)


# ---- products of matrices --------------------------------------------------------


@case(draw(3, 4), draw(4, 2), draw(4))
@cl.jit
def matrices(a: cl.f64[:, :], b: cl.f64[:, :], x: cl.f64[:]) -> float:
    c = a @ b
    d = a.T @ (a @ x) + x @ b @ b.T
    return np.sum(c * c) + d @ d + np.dot(a, x).sum() + np.sum(a @ a.T)


@case(draw(3), draw(4), draw(4, 4))
@cl.jit
def outer_and_trace(x: cl.f64[:], y: cl.f64[:], a: cl.f64[:, :]) -> float:
    b = np.outer(x, y) @ a
    quadratic = np.inner(y, a @ y) + np.vdot(b, b)
    return np.trace(b.T @ b) + quadratic + a.trace() + np.trace(a, 1) * a.diagonal()[2]


@case(draw(6, 2), draw(3, 2), draw(3), draw(1, 3), draw(1))
@cl.jit
def network(
    x: cl.f64[:, :],
    w: cl.f64[:, :],
    b: cl.f64[:],
    v: cl.f64[:, :],
    c: cl.f64[:],
) -> float:
    hidden = np.tanh(x @ w.T + b)
    out = hidden @ v.T + c
    return np.mean((out[:, 0] - np.sin(x[:, 0])) ** 2)


@case(draw(5, 3), draw(3), np.array([0, 2, 1, 1, 0]))
@cl.jit
def cross_entropy(x: cl.f64[:, :], bias: cl.f64[:], labels: cl.i64[:]) -> float:
    logits = x + bias
    shifted = logits - np.max(logits, axis=1, keepdims=True)
    log_sums = np.log(np.sum(np.exp(shifted), axis=1))
    return -np.mean(shifted[np.arange(len(labels)), labels] - log_sums)


# ---- making and joining ----------------------------------------------------------


@case(draw(4), 3)
@cl.jit
def constructors(x: cl.f64[:], n: int) -> float:
    a = np.ones((n, len(x))) * x + np.arange(n)[:, None] + np.zeros((1, 1))
    b = np.full((n, n), x[0]) @ np.eye(n, k=1) + np.diag(x[:n]) * np.identity(n)
    c = np.linspace(x[0], x[1], n) * np.arange(0.0, 3.0)[:n]
    d = np.tril(a @ a.T) - np.triu(b, 1)
    return np.sum(a**2) + np.sum(b**2) + np.sum(c) + np.sum(d**2)


@case(draw(3), draw(4), 0.4)
@cl.jit
def joined(x: cl.f64[:], y: cl.f64[:], c: float) -> float:
    z = np.concatenate((x, y, x[:1] * c))
    pair = np.stack((x, y[1:]))
    wide = np.hstack((pair, np.ones((2, 1)))) * np.array([c, 2.0, x[0], y[0]])
    tall = np.vstack((x, y[:3])) @ np.column_stack((x, y[1:]))
    small = np.array([[c, 1.0], [x[0], y[1]]])
    return np.sum(z**2) + np.sum(wide**3) + np.sum(tall * small) + np.sum(pair[1])


@case(draw(6))
@cl.jit
def shapes(x: cl.f64[:]) -> float:
    a = x.reshape(2, 3)
    b = a.T.reshape((-1, 2)) + a.transpose(1, 0)
    c = np.expand_dims(x, 0) * np.squeeze(a[None, 1:, :1], axis=(0, 2))
    d = np.swapaxes(a[:, :, None], 0, 2)[0] @ a
    return (
        np.sum(b**2)
        + np.sum(c)
        + np.sum(d)
        + np.sum(a.ravel()[::2] * a.flatten()[1::2])
    )


@case(draw(5), 2)
@case(draw(5), -7)
@cl.jit
def moved(x: cl.f64[:], shift: int) -> float:
    a = np.roll(x, shift) * np.flip(x) + np.repeat(x, 2)[1:6]
    return np.sum(a * np.tile(x, 2)[3:8]) + np.sum(
        np.roll(np.outer(x, x), 1, axis=0) * x
    )


@case(draw(4), draw(4))
@cl.jit
def updated_copy(x: cl.f64[:], y: cl.f64[:]) -> float:
    z = x.copy()
    total = np.zeros(3)
    for i in range(4):
        z[i] = z[i] * y[i] + z[i - 1]
        total[i % 3] += z[i]
    return np.sum(total**2) + np.sum(x * z)


# ---- order -----------------------------------------------------------------------


@case(draw(7))
@case(draw(1))
@case(draw(0))
@cl.jit
def sorted_values(x: cl.f64[:]) -> float:
    ordered = np.sort(x)
    ranks = np.argsort(x)
    return np.sum(ordered * np.arange(len(x)) ** 2) + np.sum(x[ranks] ** 3 * ranks)


@case(draw(3, 5))
@cl.jit
def sorted_along(a: cl.f64[:, :]) -> float:
    return np.sum(np.sort(a, axis=0)[0] ** 2) + np.sum(np.sort(a)[:, 1:3] ** 3)


@case(draw(5), draw(4))
@cl.jit
def interpolated(x: cl.f64[:], heights: cl.f64[:]) -> float:
    y = np.interp(x, KNOTS, heights) + np.interp(4.0 * x, KNOTS, HEIGHTS)
    return np.sum(y**2) + np.searchsorted(KNOTS, x[0]) * x[1]


# ---- functions as arguments ------------------------------------------------------


@cl.jit
def compose(p: tuple[float, float], q: tuple[float, float]) -> tuple[float, float]:
    """The composition of two affine functions."""
    return p[0] * q[0], q[0] * p[1] + q[1]


@case(draw(7), draw(7))
@case(draw(1), draw(1))
@cl.jit
def folded_pairs(a: cl.f64[:], b: cl.f64[:]) -> float:
    slope, offset = cl.fold(compose, [(u, v) for u, v in zip(a, b, strict=False)])
    return slope * offset + cl.fold(lambda x, y: x + y - x * y, a) * cl.fold(
        np.maximum, b
    )


@case(draw(5, 2, 2))
@cl.jit
def folded_matrices(a: cl.f64[:, :, :]) -> float:
    product = cl.fold(lambda x, y: x @ y, a)
    return np.sum(product**2)


@case(draw(4), 3)
@cl.jit
def built(x: cl.f64[:], n: int) -> float:
    a = cl.build((n, 2), lambda i, j: x[i] * x[j + 1] + i)
    b = cl.build(n, lambda i: np.sin(x) * x[i])
    return np.sum(a**2) + np.sum(b[0] * b[n - 1])


@case(draw(6), 0.5)
@cl.jit
def accumulated(x: cl.f64[:], decay: float) -> float:
    total = 0.0
    for level in accumulate(x, lambda s, v: decay * s + v * v):
        total += level**2
    more = np.array(list(accumulate(x, initial=1.0)))
    return total + np.sum(more**2) + sum(v for v in accumulate(x, compose_numbers))


@cl.jit
def compose_numbers(a: float, b: float) -> float:
    return a * b - b


@case(np.array([0.7, -1.2, 0.4]))
@cl.jit
def constant_factors(x: cl.f64[:]) -> float:
    """Arrays of one number, which is no integer, as they stand in products and sums."""
    a = np.full((2, 3), 0.5) @ x + np.cross(np.full(3, 0.25), x)[:2]
    b = np.trace(np.full((3, 3), 1.5)) * x[0] + np.dot(0.5, x)[1]
    c = sum(0.5 * v + sum(0.25 for _ in x) for v in x) + np.full(3, 2.5) @ x
    return a[0] * a[1] + b * c + np.sum(np.outer(np.full(2, 0.75), x), axis=0) @ x


@case(draw(3), draw(3, 2))
@cl.jit
def joined_rows(x: cl.f64[:], m: cl.f64[:, :]) -> float:
    """What a comprehension gives, and tuples that have a name."""
    rows = [v * x for v in x]
    blocks = [v * m for v in x]
    both = (x, np.sin(x))
    a = np.concatenate(rows) @ np.arange(9.0) + np.hstack(both) @ np.arange(6.0)
    b = np.vstack(rows) @ np.column_stack(rows) + np.stack(both, axis=1) @ m.T
    c = np.concatenate(blocks, axis=1) + np.hstack(blocks) * np.arange(6.0)
    d = np.vstack(blocks)[::2, 1] @ np.stack(blocks, axis=-1)[:, 0, 1].repeat(2)[1:]
    return a + np.sum(b**2) + np.sum(c[:2] * c[1:]) + d
