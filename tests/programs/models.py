"""Small models as a scientist would write them."""

import math

import numpy as np

import chadllvm as cl
from programs.case import case

RANDOM = np.random.default_rng(11)


def draw(*shape: int) -> np.ndarray:
    return RANDOM.normal(0.0, 0.6, shape)


@case(np.exp(draw(3)), draw(3, 3), draw(3, 4), np.array([0, 2, 3, 1, 0]))
@cl.jit
def hidden_markov(
    start: cl.f64[:], transition: cl.f64[:, :], emission: cl.f64[:, :], seen: cl.i64[:]
) -> float:
    """The log-likelihood of a sequence by the forward algorithm in log space."""
    k = len(start)
    alpha = [math.log(start[i]) + emission[i, seen[0]] for i in range(k)]
    for t in range(1, len(seen)):
        new = [[alpha[i] + transition[i, j] for i in range(k)] for j in range(k)]
        tops = [max(row) for row in new]
        alpha = [
            emission[j, seen[t]]
            + tops[j]
            + math.log(sum(math.exp(v - tops[j]) for v in new[j]))
            for j in range(k)
        ]
    top = max(alpha)
    return top + math.log(sum(math.exp(a - top) for a in alpha))


@cl.jit
def project(camera: cl.f64[:], point: cl.f64[:]):
    """Pinhole projection with Rodrigues rotation and two radial distortions."""
    theta = math.sqrt(camera[0] ** 2 + camera[1] ** 2 + camera[2] ** 2)
    c = math.cos(theta)
    s = math.sin(theta)
    wx, wy, wz = camera[0] / theta, camera[1] / theta, camera[2] / theta
    px, py, pz = point[0] - camera[3], point[1] - camera[4], point[2] - camera[5]
    dot = (wx * px + wy * py + wz * pz) * (1.0 - c)
    x = px * c + (wy * pz - wz * py) * s + wx * dot
    y = py * c + (wz * px - wx * pz) * s + wy * dot
    z = pz * c + (wx * py - wy * px) * s + wz * dot
    u, v = x / z, y / z
    r = u * u + v * v
    factor = 1.0 + camera[9] * r + camera[10] * r * r
    return camera[6] * factor * u + camera[7], camera[6] * factor * v + camera[8]


@case(
    draw(2, 11), draw(4, 3) + 4.0, draw(5), draw(5, 2),
    np.array([[0, 1], [1, 1], [0, 3], [1, 0], [0, 2]]),
)  # fmt: skip
@cl.jit
def bundle_adjustment(
    cameras: cl.f64[:, :],
    points: cl.f64[:, :],
    weights: cl.f64[:],
    features: cl.f64[:, :],
    observations: cl.i64[:, :],
) -> float:
    total = 0.0
    for k in range(len(weights)):
        camera = cameras[observations[k, 0]]
        u, v = project(camera, points[observations[k, 1]])
        total += (weights[k] * (u - features[k, 0])) ** 2
        total += (weights[k] * (v - features[k, 1])) ** 2 + (1.0 - weights[k] ** 2) ** 2
    return total


@cl.jit
def sigmoid(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x))


@case(draw(4, 4, 3), draw(4, 4), draw(5, 3))
@cl.jit
def lstm(weights: cl.f64[:, :, :], bias: cl.f64[:, :], inputs: cl.f64[:, :]) -> float:
    """A loss over a sequence; gate g of unit j: weights[g, j] · input + bias[g, j]."""
    units = bias.shape[1]
    h = [0.0 for _ in range(units)]
    c = [0.1 for _ in range(units)]
    loss = 0.0
    for t in range(len(inputs)):
        gates = [
            [
                bias[g, j]
                + sum(weights[g, j, i] * inputs[t, i] for i in range(3))
                + 0.3 * h[(j + g) % units]
                for j in range(units)
            ]
            for g in range(4)
        ]
        c = [
            sigmoid(gates[0][j]) * c[j] + sigmoid(gates[1][j]) * math.tanh(gates[2][j])
            for j in range(units)
        ]
        h = [sigmoid(gates[3][j]) * math.tanh(c[j]) for j in range(units)]
        loss += sum((h[j] - 0.5) ** 2 for j in range(units))
    return loss


@cl.jit
def slope(x: float, y: float, vx: float, vy: float, drag: float):
    r = math.sqrt(x * x + y * y)
    pull = 1.0 / r
    if r > 1.2:
        pull = 1.0 / (r * r * r)
    return vx, vy, -pull * x - drag * vx, -pull * y - drag * vy


@case(1.0, 0.1, 0.05, 1.1, 0.02, 30)
@cl.jit
def runge_kutta(
    x: float, y: float, vx: float, vy: float, drag: float, steps: int
) -> float:
    h = 0.05
    for _ in range(steps):
        a = slope(x, y, vx, vy, drag)
        b = slope(
            x + 0.5 * h * a[0], y + 0.5 * h * a[1],
            vx + 0.5 * h * a[2], vy + 0.5 * h * a[3], drag,
        )  # fmt: skip
        c = slope(
            x + 0.5 * h * b[0], y + 0.5 * h * b[1],
            vx + 0.5 * h * b[2], vy + 0.5 * h * b[3], drag,
        )  # fmt: skip
        d = slope(x + h * c[0], y + h * c[1], vx + h * c[2], vy + h * c[3], drag)
        x += h / 6.0 * (a[0] + 2.0 * b[0] + 2.0 * c[0] + d[0])
        y += h / 6.0 * (a[1] + 2.0 * b[1] + 2.0 * c[1] + d[1])
        vx += h / 6.0 * (a[2] + 2.0 * b[2] + 2.0 * c[2] + d[2])
        vy += h / 6.0 * (a[3] + 2.0 * b[3] + 2.0 * c[3] + d[3])
    return x * x + y * y


@case(draw(7, 2), draw(3, 2))
@cl.jit
def k_means(points: cl.f64[:, :], centres: cl.f64[:, :]) -> float:
    return sum(
        min(sum((p[i] - c[i]) ** 2 for i in range(2)) for c in centres) for p in points
    )


@case(draw(5, 6), 4)
@cl.jit
def heat(u: cl.f64[:, :], steps: int) -> float:
    n, m = u.shape
    for _ in range(steps):
        u = [
            [
                u[i][j]
                + 0.1
                * (
                    u[max(i - 1, 0)][j]
                    + u[min(i + 1, n - 1)][j]
                    + u[i][max(j - 1, 0)]
                    + u[i][min(j + 1, m - 1)]
                    - 4.0 * u[i][j]
                )
                for j in range(m)
            ]
            for i in range(n)
        ]
    return sum(sum(u[i][j] ** 2 for j in range(m)) for i in range(n))


@case(np.array([2.0, 0.5, 0.1]), draw(6, 4))
@cl.jit
def asian_option(parameters: cl.f64[:], normals: cl.f64[:, :]) -> float:
    """The price of a call on the average of a path, a smooth payoff."""
    paths, steps = normals.shape
    total = 0.0
    for p in range(paths):
        price = parameters[0]
        average = 0.0
        for t in range(steps):
            drift = parameters[2] - 0.5 * parameters[1] ** 2
            price = price * math.exp(0.1 * drift + 0.3 * parameters[1] * normals[p, t])
            average += price / steps
        gain = average - 1.9
        total += gain if gain > 0.0 else 0.0
    return total / paths


@case(draw(4, 3), draw(4, 3), 5)
@cl.jit
def n_body(positions: cl.f64[:, :], velocities: cl.f64[:, :], steps: int) -> float:
    """Leapfrog; the mean kinetic energy at the end."""
    n = len(positions)
    h = 0.01
    x = [[positions[i, a] for a in range(3)] for i in range(n)]
    v = [[velocities[i, a] for a in range(3)] for i in range(n)]
    for _ in range(steps):
        x = [[x[i][a] + h * v[i][a] for a in range(3)] for i in range(n)]
        r = [
            [sum((x[i][a] - x[j][a]) ** 2 for a in range(3)) + 0.1 for j in range(n)]
            for i in range(n)
        ]
        v = [
            [
                v[i][a]
                + h * sum((x[j][a] - x[i][a]) / (r[i][j] ** 1.5) for j in range(n))
                for a in range(3)
            ]
            for i in range(n)
        ]
    return sum(sum(v[i][a] ** 2 for a in range(3)) for i in range(n)) / n


@case(draw(4), draw(5), 0.5)
@cl.jit
def soft_dtw(a: cl.f64[:], b: cl.f64[:], gamma: float) -> float:
    """Soft dynamic time warping, row by row; each row is a loop with a scalar state."""
    m = len(b)
    above = [(0.0 if j == 0 else 1e3) for j in range(m + 1)]
    for i in range(len(a)):
        row = [1e3 for _ in range(m + 1)]
        left = 1e3
        for j in range(1, m + 1):
            x, y, z = above[j - 1], above[j], left
            low = min(x, y, z)
            soft = low - gamma * math.log(
                math.exp((low - x) / gamma)
                + math.exp((low - y) / gamma)
                + math.exp((low - z) / gamma)
            )
            left = (a[i] - b[j - 1]) ** 2 + soft
            row = [left if k == j else row[k] for k in range(m + 1)]
        above = row
    return above[m]
