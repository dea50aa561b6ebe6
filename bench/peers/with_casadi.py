"""CasADi: graphs of scalars in `map` and `mapaccum`, on its virtual machine.

Matrices are stored by columns there, so what is a row here is a column: arrays of two
axes are given transposed. Nothing is compiled by a C compiler, which the machines of
users need not have, and which takes minutes for the larger graphs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np

from bench.kernels import Case
from bench.peers import Prepared

REFUSED = {
    "newton": "no loop that depends on values",
    "quadrature": "no recursion that depends on values",
    "trees": "no recursion, no sum types",
}


def scalars(*shapes: tuple[int, ...]) -> list[Any]:
    """Symbols of scalar graphs, with these shapes."""
    return [ca.SX.sym(f"s{k}", *shape) for k, shape in enumerate(shapes)]


def summed(inputs: Sequence[Any], term: Any, shared: int, arrays: Sequence[Any]) -> Any:
    """The sum of a term over columns of arrays; the first `shared` have one value."""
    function = ca.Function("term", list(inputs), [term])
    n = arrays[-1].shape[1]
    return function.map("terms", "serial", n, list(range(shared)), [0])(*arrays)


def accumulated(inputs: Sequence[Any], new: Any, n: int, arrays: Sequence[Any]) -> Any:
    """The last state of n steps; what has no column for each step is repeated."""
    function = ca.Function("step", list(inputs), [new])
    columns = [
        a if a.shape[1] == n * s.shape[1] else ca.repmat(a, 1, n)
        for a, s in zip(arrays[1:], inputs[1:], strict=True)
    ]
    return function.mapaccum(n)(arrays[0], *columns)[:, -1]


def log_sum_exp(terms: Any) -> Any:
    top = ca.mmax(terms)
    return top + ca.log(ca.sum1(ca.exp(terms - top)))


def gmm(alpha, means, q, lower, x, gamma, m):
    d, n = x.shape
    k = alpha.shape[0]
    inputs = scalars((k, 1), (d, k), (d, k), (lower.shape[0], k), (d, 1))
    a, mean, log_diagonal, below, point = inputs
    terms = []
    for j in range(k):
        centred, square = point - mean[:, j], 0.0
        for row in range(d):
            start = row * (row - 1) // 2
            line = below[start : start + row, j]
            white = ca.exp(log_diagonal[row, j]) * centred[row]
            square += (white + ca.dot(line, centred[:row])) ** 2
        terms.append(a[j] + ca.sum1(log_diagonal[:, j]) - 0.5 * square)
    term = log_sum_exp(ca.vertcat(*terms))
    likelihood = summed(inputs, term, 4, (alpha, means, q, lower, x))
    squares = ca.sumsqr(ca.exp(q)) + ca.sumsqr(lower)
    prior = m * ca.sum2(ca.sum1(q)) - 0.5 * gamma**2 * squares
    constant = -0.5 * n * d * math.log(2.0 * math.pi)
    return constant + likelihood - n * ca.logsumexp(alpha) + prior


def kmeans(points, centres):
    d, k = centres.shape
    inputs = centre, point = scalars((d, k), (d, 1))
    term = ca.mmin(ca.vertcat(*(ca.sumsqr(point - centre[:, j]) for j in range(k))))
    return summed(inputs, term, 1, (centres, points))


def sigmoid(x):
    return 1.0 / (1.0 + ca.exp(-x))


def lstm(weights, biases, ends, hidden, cell, sequence):
    features, layers = hidden.shape
    shape = features, layers
    inputs = scalars(
        (features * layers * 2 + 1, 1), (features, layers * 4), (features, layers * 4),
        (features, 3), (features, 1), (features, 1),
    )  # fmt: skip
    state, w, b, end, now, following = inputs
    h = ca.reshape(state[: features * layers], *shape)
    c = ca.reshape(state[features * layers : -1], *shape)
    x, new_h, new_c = now * end[:, 0], [], []
    for layer in range(layers):
        gate = [slice(4 * layer + k, 4 * layer + k + 1) for k in range(4)]
        old = h[:, layer]
        forget = sigmoid(x * w[:, gate[0]] + b[:, gate[0]])
        let_in = sigmoid(old * w[:, gate[1]] + b[:, gate[1]])
        let_out = sigmoid(x * w[:, gate[2]] + b[:, gate[2]])
        change = ca.tanh(old * w[:, gate[3]] + b[:, gate[3]])
        new_c.append(c[:, layer] * forget + let_in * change)
        x = let_out * ca.tanh(new_c[-1])
        new_h.append(x)
    y = x * end[:, 1] + end[:, 2]
    shift = ca.log(ca.sum1(ca.exp(y)) + 2.0)
    total = state[-1] + ca.dot(following, y - shift)
    steps = sequence.shape[1] - 1
    start = ca.vertcat(ca.vec(hidden), ca.vec(cell), 0.0)
    arrays = start, weights, biases, ends, sequence[:, :-1], sequence[:, 1:]
    last = accumulated(inputs, ca.vertcat(*new_h, *new_c, total), steps, arrays)
    return -last[-1] / (steps * features)


def polynomial_fit(c, x, y):
    inputs = coefficients, place, seen = scalars(c.shape, (1, 1), (1, 1))
    value = 0.0
    for k in range(c.shape[0] - 1, -1, -1):
        value = value * place + coefficients[k]
    return summed(inputs, (value - seen) ** 2, 1, (c, x.T, y.T))


def hopper(p, start, steps):
    h = 5.0 / steps
    inputs = state, parameters = scalars((5, 1), (4, 1))

    def slope(state):
        x, v, y, w = ca.vertsplit(state)
        a, b, c, d = ca.vertsplit(parameters)
        pull = a * (y - x - 1.0) + b * (w - v)
        ground = ca.if_else(x < 0.0, c * x + d * v, 0.0)
        return ca.vertcat(v, pull - 9.81 - ground, w, -pull - 9.81)

    old = state[:4]
    a = slope(old)
    b = slope(old + 0.5 * h * a)
    c = slope(old + 0.5 * h * b)
    d = slope(old + h * c)
    new = old + h / 6.0 * (a + 2.0 * b + 2.0 * c + d)
    step = ca.vertcat(new, state[4] + new[2] ** 2)
    return accumulated(inputs, step, steps, (ca.vertcat(start, 0.0), p))[4] / steps


def nbody(x, v, mass, steps):
    h, n = 0.1 / steps, x.shape[1]

    def accelerations(x, mass):
        apart = [
            ca.repmat(x[k, :], n, 1) - ca.repmat(x[k, :].T, 1, n) for k in range(3)
        ]
        square = apart[0] ** 2 + apart[1] ** 2 + apart[2] ** 2 + 0.01
        weight = ca.repmat(mass.T, n, 1) / (square * ca.sqrt(square))
        return ca.vertcat(*(ca.sum2(weight * part).T for part in apart))

    state, heavy = ca.MX.sym("state", 9, n), ca.MX.sym("mass", n)
    speed = state[3:6, :] + 0.5 * h * state[6:, :]
    place = state[:3, :] + h * speed
    pull = accelerations(place, heavy)
    new = ca.vertcat(place, speed + 0.5 * h * pull, pull)
    step = ca.Function("step", [state, heavy], [new])
    start = ca.vertcat(x, v, accelerations(x, mass))
    last = step.mapaccum(steps)(start, ca.repmat(mass, 1, steps))[:6, -n:]
    return ca.sumsqr(last)


def heat(start, target, rate, steps):
    side = start.shape[0]
    u, share = ca.MX.sym("u", side, side), ca.MX.sym("rate")
    around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
    new = ca.MX(u)
    new[1:-1, 1:-1] += share * (around - 4.0 * u[1:-1, 1:-1])
    step = ca.Function("step", [u, share], [new]).mapaccum(steps)
    last = step(start, ca.repmat(rate, 1, steps))[:, -side:]
    return ca.sumsqr(last - target)


def hidden_markov(start, moves, emission, seen):
    states, steps = start.shape[0], len(seen) - 1
    inputs = a, move, emitted = scalars((states, 1), (states, states), (states, 1))
    reached = [log_sum_exp(a + move[:, j]) for j in range(states)]
    step = ca.vertcat(*reached) + emitted
    symbols = emission[:, [int(s) for s in seen]]
    arrays = start + symbols[:, 0], moves, symbols[:, 1:]
    return ca.logsumexp(accumulated(inputs, step, steps, arrays))


def rotated(r, x):
    square = ca.sumsqr(r)
    is_small = square < 1e-24
    angle = ca.sqrt(ca.if_else(is_small, 1.0, square))
    axis = r / angle
    along = ca.dot(axis, x) * (1.0 - ca.cos(angle))
    turned = x * ca.cos(angle) + ca.cross(axis, x) * ca.sin(angle) + axis * along
    return ca.if_else(is_small, x + ca.cross(r, x), turned)


def bundle_adjustment(cameras, points, weights, seen, images):
    inputs = c, x, w, image = scalars((11, 1), (3, 1), (1, 1), (2, 1))
    p = rotated(c[:3], x - c[3:6])
    flat = p[:2] / p[2]
    square = ca.sumsqr(flat)
    bent = c[6] * (1.0 + square * (c[9] + square * c[10]))
    off = w * (bent * flat + c[7:9] - image)
    term = ca.sumsqr(off) + (1.0 - w * w) ** 2
    camera, point = (column.tolist() for column in np.asarray(seen).T)
    arrays = cameras[:, camera], points[:, point], weights.T, images
    return summed(inputs, term, 0, arrays)


def soft_warp(x, y, gamma):
    n, m = x.shape[0], y.shape[0]
    left, up, across, a, b, g = inputs = scalars(*[(1, 1)] * 6)
    low = ca.fmin(ca.fmin(up, left), across)
    total = sum(ca.exp((low - term) / g) for term in (up, left, across))
    cell = (a - b) ** 2 + low - g * ca.log(total)
    table = ca.Function("cell", inputs, [cell]).mapaccum(m)
    above, all_y = ca.MX.sym("above", 1, m + 1), ca.MX.sym("y", 1, m)
    place, soft = ca.MX.sym("x"), ca.MX.sym("gamma")
    repeated = ca.repmat(place, 1, m), all_y, ca.repmat(soft, 1, m)
    filled = table(1e10, above[1:], above[:-1], *repeated)
    new = ca.horzcat(1e10, filled)
    rows = ca.Function("row", [above, place, all_y, soft], [new]).mapaccum(n)
    first = ca.horzcat(0.0, 1e10 * ca.DM.ones(1, m))
    return rows(first, x.T, ca.repmat(y.T, 1, n), ca.repmat(gamma, 1, n))[-1]


def monte_carlo(spot, volatility, rate, strike, barrier, normals):
    steps, paths = normals.shape
    inputs = first, sigma, level, normal = scalars((1, 1), (1, 1), (1, 1), (steps, 1))
    drift, spread = (level - 0.5 * sigma**2) / steps, sigma * math.sqrt(1.0 / steps)
    price, mean, top = first, 0.0, 0.0
    limit, least = ca.SX.sym("barrier"), ca.SX.sym("strike")
    for step in range(steps):
        price = price * ca.exp(drift + spread * normal[step])
        mean += price / steps
        top = ca.fmax(top, price)
    pays = ca.logic_and(top <= limit, mean > least)
    term = ca.if_else(pays, mean - least, 0.0)
    inputs = (least, limit, *inputs)
    arrays = strike, barrier, spot, volatility, rate, normals
    return ca.exp(-rate) * summed(inputs, term, 5, arrays) / paths


PROGRAMS: dict[str, Callable[..., Any]] = {
    program.__name__: program
    for program in (
        gmm, kmeans, lstm, polynomial_fit, hopper, nbody, heat, hidden_markov,
        bundle_adjustment, soft_warp, monte_carlo,
    )
}  # fmt: skip


def prepare(name: str, case: Case) -> Prepared:
    """The value and the gradient, on memory given once; integers are constants."""
    symbols = [_symbol(k, argument) for k, argument in enumerate(case.arguments)]
    inputs = [s for s in symbols if isinstance(s, ca.MX)]
    numbers = [
        np.ascontiguousarray(a, dtype=float)
        for a, s in zip(case.arguments, symbols, strict=True)
        if isinstance(s, ca.MX)
    ]
    value = PROGRAMS[name](*symbols)
    wrt = [symbols[k] for k in case.argnums]
    parts = [ca.densify(ca.gradient(value, symbol)) for symbol in wrt]
    shapes = [np.shape(case.arguments[k]) for k in case.argnums]
    return Prepared(
        _run(inputs, numbers, [value], [()]),
        _run(inputs, numbers, [value, *parts], [(), *shapes]),
        lambda found: (float(found[0]), found[1:]),
    )


def _symbol(k: int, argument: Any) -> Any:
    """A symbol for what is not an integer; rows are columns."""
    array = np.asarray(argument)
    if array.dtype.kind != "f":
        return argument
    *columns, length = array.shape or (1,)
    return ca.MX.sym(f"x{k}", length, math.prod(columns))


def _run(
    inputs: Sequence[Any], numbers: Sequence[Any], outputs: list[Any], shapes: list[Any]
) -> Callable[[], Any]:
    """A call that fills arrays of these shapes, and returns them or the only one."""
    buffer, call = ca.Function("run", list(inputs), outputs).buffer()
    results = [np.zeros(shape) for shape in shapes]
    for k, array in enumerate(numbers):
        buffer.set_arg(k, memoryview(array))
    for k, array in enumerate(results):
        buffer.set_res(k, memoryview(array))

    def run() -> Any:
        call()
        return results if len(results) > 1 else results[0]

    # The memory must live as long as what is called.
    run.kept = buffer, numbers  # type: ignore[attr-defined]
    return run
