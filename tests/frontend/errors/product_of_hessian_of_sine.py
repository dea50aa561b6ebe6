import math

import chadllvm as cl


def f(x: float) -> float:
    slope = cl.hvp(math.sin)
    return slope(x, 1.0)
