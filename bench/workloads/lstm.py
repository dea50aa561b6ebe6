"""The loss of a sequence predicted by a small recurrent network, by its parameters.

Each layer is a long short-term memory whose gates have a weight and a bias for each
feature, as in the public suites that compare systems for derivatives.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import chadllvm as cl
from bench.workload import Workload


@cl.jit
def sigmoid(x: cl.f64[:]) -> cl.f64[:]:
    """The logistic function."""
    return 1.0 / (1.0 + np.exp(-x))


@cl.jit
def lstm(
    weights: cl.f64[:, :, :],
    biases: cl.f64[:, :, :],
    ends: cl.f64[:, :],
    hidden: cl.f64[:, :],
    cell: cl.f64[:, :],
    sequence: cl.f64[:, :],
) -> float:
    """The mean negative log-likelihood of each vector after those before.

    `weights`, `biases`: for each layer those of the gates that forget, let in and let
    out, and of the change. `ends`: weights of the input, then weights and biases of the
    output. `hidden`, `cell`: each layer's state at the start.
    """
    h, c = hidden.copy(), cell.copy()
    total = 0.0
    for t in range(len(sequence) - 1):
        x = sequence[t] * ends[0]
        for layer in range(len(weights)):
            w, b = weights[layer], biases[layer]
            forget = sigmoid(x * w[0] + b[0])
            let_in = sigmoid(h[layer] * w[1] + b[1])
            let_out = sigmoid(x * w[2] + b[2])
            change = np.tanh(h[layer] * w[3] + b[3])
            state = c[layer] * forget + let_in * change
            x = let_out * np.tanh(state)
            c[layer] = state
            h[layer] = x
        y = x * ends[1] + ends[2]
        shift = math.log(np.sum(np.exp(y)) + 2.0)
        total += np.sum(sequence[t + 1] * (y - shift))
    return -total / ((len(sequence) - 1) * sequence.shape[1])


def problem(steps: int, features: int) -> tuple[Any, ...]:
    """Two layers, and a sequence of zeros and ones."""
    rng = np.random.default_rng([steps, features])
    weights, biases = rng.uniform(-1.0, 1.0, (2, 2, 4, features))
    ends = rng.uniform(-1.0, 1.0, (3, features))
    hidden, cell = rng.uniform(-1.0, 1.0, (2, 2, features))
    sequence = rng.integers(0, 2, (steps, features)).astype(float)
    return weights, biases, ends, hidden, cell, sequence


WORKLOAD = Workload(
    lstm,
    problem,
    sizes=((256, 14), (1_024, 14), (4_096, 14)),
    small=(6, 3),
    argnums=(0, 1, 2),
    lengths=(0, 5),
)
