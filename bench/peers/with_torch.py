"""PyTorch: eager, one thread, 64 bits; whole arrays, loops and recursion in Python."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import logsumexp, sigmoid

from bench.kernels import Case
from bench.peers import Prepared

torch.set_num_threads(1)

REFUSED: dict[str, str] = {}


def gmm(alpha, means, q, lower, x, gamma, m):
    n, d = x.shape
    rows, columns = torch.tril_indices(d, d, -1)
    diagonal = torch.exp(q)
    factors = torch.diag_embed(diagonal)
    factors[:, rows, columns] = lower
    white = torch.einsum("kij,nkj->nki", factors, x[:, None] - means[None])
    terms = alpha + torch.sum(q, 1) - 0.5 * torch.sum(white * white, 2)
    likelihood = torch.sum(logsumexp(terms, 1))
    squares = torch.sum(diagonal**2) + torch.sum(lower**2)
    prior = m * torch.sum(q) - 0.5 * gamma**2 * squares
    constant = -0.5 * n * d * math.log(2.0 * math.pi)
    return constant + likelihood - n * logsumexp(alpha, 0) + prior


def kmeans(points, centres):
    lengths = torch.sum(points**2, 1)[:, None] + torch.sum(centres**2, 1)
    return torch.sum(torch.amin(lengths - 2.0 * points @ centres.T, 1))


def lstm(weights, biases, ends, hidden, cell, sequence):
    layers = range(len(weights))
    h, c = list(hidden), list(cell)
    total = 0.0
    for t in range(len(sequence) - 1):
        x = sequence[t] * ends[0]
        for k in layers:
            both = torch.stack((x, h[k], x)) * weights[k][:3] + biases[k][:3]
            forget, let_in, let_out = sigmoid(both)
            change = torch.tanh(h[k] * weights[k][3] + biases[k][3])
            c[k] = c[k] * forget + let_in * change
            x = h[k] = let_out * torch.tanh(c[k])
        y = x * ends[1] + ends[2]
        shift = torch.log(torch.sum(torch.exp(y)) + 2.0)
        total = total + torch.dot(sequence[t + 1], y - shift)
    return -total / ((len(sequence) - 1) * sequence.shape[1])


def polynomial_fit(c, x, y):
    value = torch.zeros_like(x)
    for k in range(len(c) - 1, -1, -1):
        value = value * x + c[k]
    return torch.sum((value - y) ** 2)


def hopper(p, start, steps):
    h = 5.0 / steps

    def slope(state):
        x, v, y, w = state
        pull = p[0] * (y - x - 1.0) + p[1] * (w - v)
        ground = p[2] * x + p[3] * v if x < 0.0 else 0.0
        return torch.stack([v, pull - 9.81 - ground, w, -pull - 9.81])

    state, total = start, 0.0
    for _ in range(steps):
        a = slope(state)
        b = slope(state + 0.5 * h * a)
        c = slope(state + 0.5 * h * b)
        d = slope(state + h * c)
        state = state + h / 6.0 * (a + 2.0 * b + 2.0 * c + d)
        total = total + state[2] ** 2
    return total / steps


def nbody(x, v, mass, steps):
    h = 0.1 / steps

    def accelerations(x):
        apart = x[None] - x[:, None]
        square = torch.sum(apart**2, 2) + 0.01
        weight = mass / (square * torch.sqrt(square))
        return torch.einsum("ij,ijk->ik", weight, apart)

    a = accelerations(x)
    for _ in range(steps):
        v = v + 0.5 * h * a
        x = x + h * v
        a = accelerations(x)
        v = v + 0.5 * h * a
    return torch.sum(x * x) + torch.sum(v * v)


def heat(start, target, rate, steps):
    """Convolution is slower than slices here; `pad` keeps what is not updated."""
    u = start
    for _ in range(steps):
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        change = rate * (around - 4.0 * u[1:-1, 1:-1])
        u = u + torch.nn.functional.pad(change, (1, 1, 1, 1))
    return torch.sum((u - target) ** 2)


def hidden_markov(start, moves, emission, seen):
    a = start + emission[seen[0]]
    for symbol in seen[1:].tolist():
        a = logsumexp(a + moves, 1) + emission[symbol]
    return logsumexp(a, 0)


def rotated(r, x):
    square = torch.sum(r * r, 1)
    is_small = square < 1e-24
    angle = torch.sqrt(torch.where(is_small, 1.0, square))
    cosine, sine = torch.cos(angle)[:, None], torch.sin(angle)[:, None]
    axis = r / angle[:, None]
    along = torch.sum(axis * x, 1, keepdim=True) * (1.0 - cosine)
    turned = x * cosine + torch.linalg.cross(axis, x) * sine + axis * along
    return torch.where(is_small[:, None], x + torch.linalg.cross(r, x), turned)


def bundle_adjustment(cameras, points, weights, seen, images):
    c, x = cameras[seen[:, 0]], points[seen[:, 1]]
    p = rotated(c[:, :3], x - c[:, 3:6])
    flat = p[:, :2] / p[:, 2:]
    square = torch.sum(flat * flat, 1)
    bent = c[:, 6] * (1.0 + square * (c[:, 9] + square * c[:, 10]))
    off = weights[:, None] * (bent[:, None] * flat + c[:, 7:9] - images)
    return torch.sum(off * off) + torch.sum((1.0 - weights * weights) ** 2)


def soft_warp(x, y, gamma):
    """Along the diagonals, each of which is computed at once."""
    n, m = len(x), len(y)
    cost = torch.flip((x[:, None] - y[None, :]) ** 2, (1,))
    edge = torch.full((1,), 1e10, dtype=x.dtype)
    # Diagonal k holds the cells (i, k - i), i from max(0, k - m) to min(n, k).
    before, last = torch.zeros(1, dtype=x.dtype), torch.cat((edge, edge))
    for k in range(2, n + m + 1):
        low, high = max(1, k - m), min(n, k - 1)
        # Where the diagonals before begin.
        first, second = max(0, k - 1 - m), max(0, k - 2 - m)
        up = last[low - 1 - first : high - first]
        left = last[low - first : high + 1 - first]
        across = before[low - 1 - second : high - second]
        three = torch.stack((up, left, across))
        soft = -gamma * logsumexp(three / -gamma, 0)
        new = _costs(cost, k, low, high) + soft
        parts = (edge, new) if low == 1 and k <= m else (new,)
        parts = (*parts, edge) if k <= n else parts
        before, last = last, torch.cat(parts)
    return last[-1]


def _costs(flipped, k, low, high):
    """The costs of the cells (i, k - i) from row `low` to `high`."""
    m = flipped.shape[1]
    # The column of the flipped costs is m - (k - i), which grows with i.
    found = torch.diagonal(flipped, m - k + 1)
    start = max(1, k - m)
    return found[low - start : high + 1 - start]


def monte_carlo(spot, volatility, rate, strike, barrier, normals):
    paths, steps = normals.shape
    drift = (rate - 0.5 * volatility * volatility) / steps
    spread = volatility * math.sqrt(1.0 / steps)
    prices = spot * torch.exp(torch.cumsum(drift + spread * normals, 1))
    mean = torch.mean(prices, 1)
    pays = torch.all(prices <= barrier, 1) & (mean > strike)
    return torch.exp(-rate) * torch.sum((mean - strike)[pays]) / paths


def newton(mean, e):
    x, step = mean, torch.ones_like(mean)
    while bool(torch.any(torch.abs(step) > 1e-12)):
        step = (x - e * torch.sin(x) - mean) / (1.0 - e * torch.cos(x))
        x = x - step
    return torch.sum(torch.cos(x))


def quadrature(p, tolerance):
    def integrand(x):
        return torch.exp(-p[0] * x) * torch.sin(p[1] / (x + p[2]))

    def adapt(lo, hi, flo, fmid, fhi, whole, tolerance):
        mid = 0.5 * (lo + hi)
        fl, fr = integrand(0.5 * (lo + mid)), integrand(0.5 * (mid + hi))
        h = (hi - lo) / 12.0
        left = h * (flo + 4.0 * fl + fmid)
        right = h * (fmid + 4.0 * fr + fhi)
        change = left + right - whole
        if abs(change) <= 15.0 * tolerance:
            return left + right + change / 15.0
        below = adapt(lo, mid, flo, fl, fmid, left, 0.5 * tolerance)
        return below + adapt(mid, hi, fmid, fr, fhi, right, 0.5 * tolerance)

    flo, fmid, fhi = integrand(0.0), integrand(0.5), integrand(1.0)
    whole = (flo + 4.0 * fmid + fhi) / 6.0
    return adapt(0.0, 1.0, flo, fmid, fhi, whole, tolerance)


def trees(x):
    def grow(low, high):
        if high - low == 1:
            return x[low]
        middle = low + (high - low) // 2
        weight = 1.0 / (1.0 + (high - low) % 7)
        return weight, grow(low, middle), grow(middle, high)

    def fold(tree):
        if isinstance(tree, torch.Tensor):
            return tree
        weight, left, right = tree
        return weight * torch.tanh(fold(left)) + (1.0 - weight) * fold(right)

    return fold(grow(0, len(x)))


PROGRAMS: dict[str, Callable[..., Any]] = {
    program.__name__: program
    for program in (
        gmm, kmeans, lstm, polynomial_fit, hopper, nbody, heat, hidden_markov,
        bundle_adjustment, soft_warp, monte_carlo, newton, quadrature, trees,
    )
}  # fmt: skip


def prepare(name: str, case: Case) -> Prepared:
    """The value without a graph, and the gradient by autograd."""
    program, fixed = PROGRAMS[name], set(range(len(case.arguments))) - set(case.argnums)
    tensors = [_tensor(a, k in fixed) for k, a in enumerate(case.arguments)]
    wrt = [tensors[k].requires_grad_() for k in case.argnums]

    def value() -> Any:
        with torch.no_grad():
            return program(*tensors)

    def gradient() -> Any:
        result = program(*tensors)
        return result, torch.autograd.grad(result, wrt)

    return Prepared(value, gradient, _numbers)


def _numbers(found: Any) -> tuple[float, list[Any]]:
    return found[0].item(), [part.numpy() for part in found[1]]


def _tensor(argument: Any, is_fixed: bool) -> Any:
    """Arrays are tensors; numbers only where they are differentiated by."""
    if isinstance(argument, int) or (is_fixed and isinstance(argument, float)):
        return argument
    kind = None if isinstance(argument, np.ndarray) else torch.float64
    return torch.tensor(argument, dtype=kind)
