"""JAX: jit-compiled on one core, 64 bits, loops by `lax.scan`, arrays as a whole."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.nn import sigmoid
from jax.scipy.special import logsumexp

from bench.kernels import Case
from bench.peers import Prepared

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")

REFUSED = {
    "quadrature": "no recursion that depends on values",
    "trees": "no recursion, no sum types",
}

# Why there is a value and no gradient.
NO_GRADIENT = {"newton": "no reverse mode through while_loop"}


def gmm(alpha, means, q, lower, x, gamma, m):
    n, d = x.shape
    k = len(alpha)
    rows, columns = np.tril_indices(d, -1)
    diagonal = jnp.exp(q)
    factors = jnp.zeros((k, d, d)).at[:, rows, columns].set(lower)
    factors += jax.vmap(jnp.diag)(diagonal)
    white = jnp.einsum("kij,nkj->nki", factors, x[:, None] - means[None])
    terms = alpha + jnp.sum(q, axis=1) - 0.5 * jnp.sum(white**2, axis=2)
    likelihood = jnp.sum(logsumexp(terms, axis=1))
    squares = jnp.sum(diagonal**2) + jnp.sum(lower**2)
    prior = m * jnp.sum(q) - 0.5 * gamma**2 * squares
    constant = -0.5 * n * d * math.log(2.0 * math.pi)
    return constant + likelihood - n * logsumexp(alpha) + prior


def kmeans(points, centres):
    lengths = jnp.sum(points**2, axis=1)[:, None] + jnp.sum(centres**2, axis=1)
    return jnp.sum(jnp.min(lengths - 2.0 * points @ centres.T, axis=1))


def lstm(weights, biases, ends, hidden, cell, sequence):
    def layer(x, state):
        w, b, h, c = state
        forget = sigmoid(x * w[0] + b[0])
        let_in = sigmoid(h * w[1] + b[1])
        let_out = sigmoid(x * w[2] + b[2])
        c = c * forget + let_in * jnp.tanh(h * w[3] + b[3])
        x = let_out * jnp.tanh(c)
        return x, (x, c)

    def step(state, now):
        current, following = now
        x, state = lax.scan(layer, current * ends[0], (weights, biases, *state))
        y = x * ends[1] + ends[2]
        shift = jnp.log(jnp.sum(jnp.exp(y)) + 2.0)
        return state, jnp.sum(following * (y - shift))

    _, terms = lax.scan(step, (hidden, cell), (sequence[:-1], sequence[1:]))
    return -jnp.sum(terms) / ((len(sequence) - 1) * sequence.shape[1])


def polynomial_fit(c, x, y):
    return jnp.sum((jnp.polyval(c[::-1], x, unroll=16) - y) ** 2)


def hopper(p, start, steps):
    h = 5.0 / steps

    def slope(state):
        x, v, y, w = state
        pull = p[0] * (y - x - 1.0) + p[1] * (w - v)
        ground = jnp.where(x < 0.0, p[2] * x + p[3] * v, 0.0)
        return jnp.stack([v, pull - 9.81 - ground, w, -pull - 9.81])

    def step(state, _):
        a = slope(state)
        b = slope(state + 0.5 * h * a)
        c = slope(state + 0.5 * h * b)
        d = slope(state + h * c)
        state = state + h / 6.0 * (a + 2.0 * b + 2.0 * c + d)
        return state, state[2] ** 2

    _, squares = lax.scan(step, start, None, length=steps)
    return jnp.sum(squares) / steps


def nbody(x, v, mass, steps):
    h = 0.1 / steps

    def accelerations(x):
        apart = x[None] - x[:, None]
        square = jnp.sum(apart**2, axis=2) + 0.01
        weight = mass / (square * jnp.sqrt(square))
        return jnp.einsum("ij,ijk->ik", weight, apart)

    def step(state, _):
        x, v, a = state
        v = v + 0.5 * h * a
        x = x + h * v
        a = accelerations(x)
        return (x, v + 0.5 * h * a, a), None

    (x, v, _), _ = lax.scan(step, (x, v, accelerations(x)), None, length=steps)
    return jnp.sum(x * x) + jnp.sum(v * v)


def heat(start, target, rate, steps):
    def step(u, _):
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        return u.at[1:-1, 1:-1].add(rate * (around - 4.0 * u[1:-1, 1:-1])), None

    u, _ = lax.scan(step, start, None, length=steps)
    return jnp.sum((u - target) ** 2)


def hidden_markov(start, moves, emission, seen):
    def step(a, symbol):
        return logsumexp(a + moves, axis=1) + emission[symbol], None

    a, _ = lax.scan(step, start + emission[seen[0]], seen[1:])
    return logsumexp(a)


def rotated(r, x):
    square = jnp.sum(r * r, axis=1)
    is_small = square < 1e-24
    angle = jnp.sqrt(jnp.where(is_small, 1.0, square))
    cosine, sine = jnp.cos(angle)[:, None], jnp.sin(angle)[:, None]
    axis = r / angle[:, None]
    along = jnp.sum(axis * x, axis=1, keepdims=True) * (1.0 - cosine)
    turned = x * cosine + jnp.cross(axis, x) * sine + axis * along
    return jnp.where(is_small[:, None], x + jnp.cross(r, x), turned)


def bundle_adjustment(cameras, points, weights, seen, images):
    c, x = cameras[seen[:, 0]], points[seen[:, 1]]
    p = rotated(c[:, :3], x - c[:, 3:6])
    flat = p[:, :2] / p[:, 2:]
    square = jnp.sum(flat * flat, axis=1)
    bent = c[:, 6] * (1.0 + square * (c[:, 9] + square * c[:, 10]))
    off = weights[:, None] * (bent[:, None] * flat + c[:, 7:9] - images)
    return jnp.sum(off * off) + jnp.sum((1.0 - weights * weights) ** 2)


def soft_warp(x, y, gamma):
    """Along the diagonals, each of which is computed at once; i is the row."""
    n, m = len(x), len(y)
    rows = jnp.arange(n + 1)

    def step(state, k):
        before, last = state
        columns = k - rows
        up = jnp.roll(last, 1).at[0].set(1e10)
        across = jnp.roll(before, 1).at[0].set(1e10)
        low = jnp.minimum(jnp.minimum(up, last), across)
        three = jnp.stack([up, last, across])
        total = jnp.sum(jnp.exp((low - three) / gamma), axis=0)
        cost = (x[rows - 1] - y[jnp.clip(columns - 1, 0, m - 1)]) ** 2
        inside = (rows > 0) & (columns > 0) & (columns <= m)
        new = jnp.where(inside, cost + low - gamma * jnp.log(total), 1e10)
        return (last, new), None

    first = jnp.full(n + 1, 1e10)
    state = first.at[0].set(0.0), first
    (_, last), _ = lax.scan(step, state, jnp.arange(2, n + m + 1))
    return last[n]


def monte_carlo(spot, volatility, rate, strike, barrier, normals):
    paths, steps = normals.shape
    drift = (rate - 0.5 * volatility * volatility) / steps
    spread = volatility * math.sqrt(1.0 / steps)
    prices = spot * jnp.exp(jnp.cumsum(drift + spread * normals, axis=1))
    mean = jnp.mean(prices, axis=1)
    pays = jnp.all(prices <= barrier, axis=1) & (mean > strike)
    return jnp.exp(-rate) * jnp.sum(jnp.where(pays, mean - strike, 0.0)) / paths


def newton(mean, e):
    def step(state):
        x, change = state
        change = (x - e * jnp.sin(x) - mean) / (1.0 - e * jnp.cos(x))
        return x - change, change

    def is_left(state):
        return jnp.any(jnp.abs(state[1]) > 1e-12)

    x, _ = lax.while_loop(is_left, step, (mean, jnp.ones_like(mean)))
    return jnp.sum(jnp.cos(x))


PROGRAMS: dict[str, Callable[..., Any]] = {
    program.__name__: program
    for program in (
        gmm, kmeans, lstm, polynomial_fit, hopper, nbody, heat, hidden_markov,
        bundle_adjustment, soft_warp, monte_carlo, newton,
    )
}  # fmt: skip


def prepare(name: str, case: Case) -> Prepared:
    """The value and the gradient, compiled; integers are constants."""
    static = [k for k, a in enumerate(case.arguments) if isinstance(a, int)]
    compiled = partial(jax.jit, static_argnums=static)
    arguments = [a if k in static else jnp.asarray(a) for k, a in _numbered(case)]
    program = PROGRAMS[name]
    value = compiled(program)
    gradient = compiled(jax.value_and_grad(program, argnums=case.argnums))

    def done(run: Callable[..., Any]) -> Callable[[], Any]:
        return lambda: jax.block_until_ready(run(*arguments))

    if name in NO_GRADIENT:
        return Prepared(done(value), why=NO_GRADIENT[name])
    return Prepared(done(value), done(gradient), lambda found: found)


def _numbered(case: Case) -> list[tuple[int, Any]]:
    return list(enumerate(case.arguments))
