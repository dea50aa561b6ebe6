"""The log-posterior of a Gaussian mixture with full covariances, as plain loops.

Component j has the weight softmax(alpha)[j], the mean `means[j]` and the precision QᵀQ.
Q is lower triangular: its diagonal is exp(q[j]), and `lower[j]` holds what is strictly
below it, row after row, row r from index r (r - 1) / 2 on. So every choice of the
parameters is a valid mixture. The precisions have a Wishart prior with the parameters
`gamma` (inverse scale) and `m` (extra degrees of freedom).

This is the GMM objective of ADBench (Šrajer, Kukelova, Fitzgibbon: "A benchmark of
selected algorithmic differentiation tools", 2018), with the prior's sign such that the
whole is a log-density to be maximised, and without the prior's constant normaliser.
"""

from __future__ import annotations

import math

import chadllvm as cl


@cl.jit
def log_sum_exp(values: cl.f64[:]) -> float:
    """log(sum(exp(values))) without overflow."""
    largest = max(values)
    total = sum(math.exp(value - largest) for value in values)
    return float(largest + math.log(total))


@cl.jit
def whitened(
    diagonal: cl.f64[:], lower: cl.f64[:], centred: cl.f64[:], row: int
) -> float:
    """Element `row` of Q @ centred."""
    start = row * (row - 1) // 2
    below = sum(lower[start + j] * centred[j] for j in range(row))
    return float(diagonal[row] * centred[row] + below)


@cl.jit
def squared_distance(
    mean: cl.f64[:], diagonal: cl.f64[:], lower: cl.f64[:], point: cl.f64[:]
) -> float:
    """|Q (point - mean)|², the squared Mahalanobis distance."""
    d = len(point)
    centred = [point[j] - mean[j] for j in range(d)]
    return sum(whitened(diagonal, lower, centred, row) ** 2 for row in range(d))


@cl.jit
def log_wishart(q: cl.f64[:], lower: cl.f64[:], gamma: float, m: int) -> float:
    """The log-density of one precision under the prior, up to its normaliser."""
    diagonal = sum(math.exp(2.0 * value) for value in q)
    below = sum(value**2 for value in lower)
    return float(m * sum(q) - 0.5 * gamma**2 * (diagonal + below))


@cl.jit
def log_posterior(
    alpha: cl.f64[:],
    means: cl.f64[:, :],
    q: cl.f64[:, :],
    lower: cl.f64[:, :],
    x: cl.f64[:, :],
    gamma: float,
    m: int,
) -> float:
    """The log-posterior of k components for n points in d dimensions.

    Shapes: alpha (k,), means and q (k, d), lower (k, d (d - 1) / 2), x (n, d).
    """
    n = len(x)
    k = len(alpha)
    d = len(x[0])
    diagonals = [[math.exp(value) for value in row] for row in q]
    log_scales = [alpha[j] + sum(q[j]) for j in range(k)]
    likelihood = sum(
        log_sum_exp(
            [
                log_scales[j]
                - 0.5 * squared_distance(means[j], diagonals[j], lower[j], x[i])
                for j in range(k)
            ]
        )
        for i in range(n)
    )
    prior = sum(log_wishart(q[j], lower[j], gamma, m) for j in range(k))
    constant = -0.5 * n * d * math.log(2.0 * math.pi)
    return constant + likelihood - n * log_sum_exp(alpha) + prior
