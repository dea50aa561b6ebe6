import chadllvm as cl
import numpy as np


def f(x: cl.f64[:, :]):
    return np.sum(x, axi=0)
