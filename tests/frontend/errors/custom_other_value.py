import numpy as np

import chadllvm as cl


@cl.custom_vjp
def f(x: cl.f64[:]) -> float:
    return np.sum(x)


def forward(x):
    return x, len(x)


f.defvjp(forward, lambda n, ct: np.full(n, ct))
