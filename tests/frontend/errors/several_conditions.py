import numpy as np

import chadllvm as cl


def f(x: cl.f64[:]) -> float:
    if x:
        return first
    if isinstance(x, float):
        return second
    if x.sise > 2:
        y = np.summ(x)
    else:
        y = third
    return y
