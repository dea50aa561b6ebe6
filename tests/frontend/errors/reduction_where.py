import numpy as np

import chadllvm as cl


def f(x: cl.f64[:]):
    return np.max(x, where=x > 0.0)
