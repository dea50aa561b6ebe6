"""What stands in the inner loops of several sciences, as users write it."""

from __future__ import annotations

import math

import numpy as np

import chadllvm as cl
from bench.wide.kernel import Places, family

Vec = cl.f64[:]
Mat = cl.f64[:, :]
Ints = cl.i64[:]

sciences = family("sciences")


@sciences((60, 3))
def lennard_jones(x: Mat) -> float:
    """The energy of all pairs of atoms."""
    energy = 0.0
    for i in range(len(x)):
        for j in range(i):
            d = x[i] - x[j]
            r2 = np.sum(d * d) + 0.3
            r6 = r2 * r2 * r2
            energy += 1.0 / (r6 * r6) - 1.0 / r6
    return energy


@sciences((60, 3), (60,))
def coulomb(x: Mat, charge: Vec) -> float:
    """The same with charges and roots, coordinates written out."""
    energy = 0.0
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            dx = x[i, 0] - x[j, 0]
            dy = x[i, 1] - x[j, 1]
            dz = x[i, 2] - x[j, 2]
            energy += charge[i] * charge[j] / math.sqrt(dx * dx + dy * dy + dz * dz)
    return energy


@sciences((2000, 3), Places(2000))
def springs(x: Mat, other: Ints) -> float:
    """A net of springs between numbered points."""
    energy = 0.0
    for k in range(len(other)):
        d = x[k] - x[other[k]]
        stretch = np.sqrt(np.sum(d * d) + 0.01) - 0.2
        energy += stretch * stretch
    return energy


@sciences((3,), 400)
def lorenz(x0: Vec, steps: int) -> float:
    """An ordinary differential equation by the method of Runge and Kutta."""

    def slope(x: Vec) -> Vec:
        return np.array(
            [10.0 * (x[1] - x[0]), x[0] * (28.0 - x[2]) - x[1], x[0] * x[1] - x[2]]
        )

    x = x0
    for _ in range(steps):
        k1 = slope(x)
        k2 = slope(x + 0.001 * k1)
        k3 = slope(x + 0.001 * k2)
        k4 = slope(x + 0.002 * k3)
        x = x + 0.002 / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return np.sum(x)


@sciences((300, 8), (8,), (300,))
def logistic(x: Mat, w: Vec, y: Vec) -> float:
    """The likelihood of a logistic regression."""
    total = 0.0
    for i in range(len(y)):
        z = x[i] @ w - 2.0
        total += y[i] * z - np.log1p(np.exp(z))
    return total


@sciences((300, 4), (5, 4), (5,))
def mixture(x: Mat, means: Mat, weights: Vec) -> float:
    """The likelihood of a mixture, by the logarithm of sums of exponentials."""
    total = 0.0
    for i in range(len(x)):
        terms = np.log(weights) - 0.5 * np.sum((x[i] - means) ** 2, axis=1)
        most = np.max(terms)
        total += most + np.log(np.sum(np.exp(terms - most)))
    return total


@sciences((64, 16), (16, 32), (32,), (32, 4), (4,))
def perceptron(x: Mat, w1: Mat, b1: Vec, w2: Mat, b2: Vec) -> float:
    """A network of two layers."""
    hidden = np.tanh(x @ w1 + b1)
    return np.mean((hidden @ w2 + b2) ** 2)


@sciences((28, 28), (5, 5))
def convolution(image: Mat, kernel: Mat) -> float:
    """A layer of convolution, loops written out, and what is positive of it."""
    total = 0.0
    for i in range(len(image) - 4):
        for j in range(len(image) - 4):
            s = -3.0
            for a in range(5):
                for b in range(5):
                    s += image[i + a, j + b] * kernel[a, b]
            total += max(s, 0.0) ** 2
    return total


@sciences((200,), (200,))
def time_warp(a: Vec, b: Vec) -> float:
    """The distance of two series that are stretched against each other."""
    row = np.full(len(b) + 1, 1e6)
    row[0] = 0.0
    for i in range(len(a)):
        before = row[0]
        row[0] = 1e6
        for j in range(len(b)):
            new = (a[i] - b[j]) ** 2 + min(row[j + 1], row[j], before)
            before = row[j + 1]
            row[j + 1] = new
    return row[len(b)]


@sciences((120, 4), (4, 4), (4,))
def forward_algorithm(emit: Mat, move: Mat, start: Vec) -> float:
    """The likelihood of a hidden Markov model, scaled in each step."""
    alpha = start * emit[0]
    total = 0.0
    for t in range(1, len(emit)):
        alpha = (alpha @ move) * emit[t]
        scale = np.sum(alpha)
        total += np.log(scale)
        alpha = alpha / scale
    return total


@sciences((200,), (200,))
def kalman(seen: Vec, noise: Vec) -> float:
    """A filter of one state: prediction, gain and correction."""
    x, p, total = 0.0, 1.0, 0.0
    for t in range(len(seen)):
        p = p + 0.1
        s = p + noise[t]
        error = seen[t] - x
        total += error * error / s + np.log(s)
        gain = p / s
        x += gain * error
        p *= 1.0 - gain
    return total


@sciences((2000,), 0.5, 1.0)
def black_scholes(prices: Vec, spread: float, rate: float) -> float:
    """Prices of options in closed form."""
    total = 0.0
    for price in prices:
        d1 = (math.log(price) + rate + 0.5 * spread * spread) / spread
        d2 = d1 - spread
        n1 = 0.5 * (1.0 + math.erf(d1 / math.sqrt(2.0)))
        n2 = 0.5 * (1.0 + math.erf(d2 / math.sqrt(2.0)))
        total += price * n1 - math.exp(-rate) * n2
    return total


@sciences((1000,), 0.7, 0.2)
def binomial_tree(end: Vec, up: float, down: float) -> float:
    """An option by backward induction, 150 steps in place."""
    v = end[:151].copy()
    for t in range(150, 0, -1):
        for i in range(t):
            v[i] = max(0.99 * (up * v[i + 1] + (1.0 - up) * v[i]), v[i] * down)
    return v[0]


@sciences((500, 3), Places(500), (500,))
def sparse_product(values: Mat, columns: Ints, x: Vec) -> float:
    """A sparse matrix with three entries in each row, with a vector, several times."""
    y = x
    for _ in range(5):
        z = np.zeros(len(y))
        for i in range(len(values)):
            s = 0.0
            for k in range(3):
                s += values[i, k] * y[(columns[i] + k) % len(y)]
            z[i] = 0.3 * s
        y = z
    return np.sum(y * y)


@sciences((60, 60), (60,))
def power_method(a: Mat, start: Vec) -> float:
    """The largest eigenvalue of a matrix."""
    x = start
    size = 0.0
    for _ in range(20):
        x = a @ x
        size = np.sqrt(np.sum(x * x))
        x = x / size
    return size


@sciences((60, 60), (60,))
def conjugate_gradients(a: Mat, b: Vec) -> float:
    """A linear system by conjugate gradients, until the residual is small."""
    x = np.zeros(len(b))
    r = b.copy()
    p = r
    rs = np.sum(r * r)
    k = 0
    while rs > 1e-10 and k < 15:
        ap = a @ p + 50.0 * p
        alpha = rs / np.sum(p * ap)
        x = x + alpha * p
        r = r - alpha * ap
        new = np.sum(r * r)
        p = r + new / rs * p
        rs = new
        k += 1
    return np.sum(x)


@sciences((400, 2), (8, 2))
def clusters(points: Mat, centres: Mat) -> float:
    """The sum of distances to the nearest centre."""
    total = 0.0
    for i in range(len(points)):
        least = 1e300
        for k in range(len(centres)):
            d = points[i] - centres[k]
            least = min(least, np.sum(d * d))
        total += least
    return total


@sciences((3, 3), 1.5)
def rotations(angles: Mat, length: float) -> float:
    """A chain of rotations, as in the kinematics of a robot."""
    x = np.array([length, 0.0, 0.0])
    for k in range(200):
        a = angles[k % 3, 0] + 0.01 * k
        c, s = math.cos(a), math.sin(a)
        x = np.array(
            [c * x[0] - s * x[1], s * x[0] + c * x[1], x[2] + angles[k % 3, 2]]
        )
    return x[0] * x[0] + x[1] * x[2]


@sciences((20000,))
def quadrature(c: Vec) -> float:
    """An integral by Simpson's rule, weights by the parity of the place."""
    h = 1.0 / len(c)
    total = 0.0
    for i in range(len(c)):
        weight = 4.0 if i % 2 == 1 else 2.0
        total += weight * math.exp(-c[i] * i * h)
    return total * h / 3.0


@sciences((9,), (9,))
def barycentric(nodes: Vec, values: Vec) -> float:
    """Interpolation by polynomials at many points."""
    weights = np.ones(len(nodes))
    for i in range(len(nodes)):
        for j in range(len(nodes)):
            if i != j:
                weights[i] *= 3.0 / (nodes[i] - nodes[j] + 3.0 * (i - j))
    total = 0.0
    for k in range(200):
        x = 0.1 * k + 0.05
        top, bottom = 0.0, 0.0
        for i in range(len(nodes)):
            part = weights[i] / (x - nodes[i] - 3.0 * i)
            top += part * values[i]
            bottom += part
        total += top / bottom
    return total
