import numpy as np

import chadllvm as cl


def f(a: cl.f32[:], b: cl.f64[:]):
    joined = np.concatenate((a, b))
    product = a @ np.ones(len(a))
    return np.sum(joined) + product
