import math

import chadllvm as cl


def f(x: float) -> float:
    return cl.grad(math.sin)(x)
