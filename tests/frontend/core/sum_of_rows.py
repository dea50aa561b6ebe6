import numpy as np

from chadllvm.frontend import f64


def f(x: f64[:, :, :]):
    return np.sum(x, axis=0), np.sum(x, axis=1), np.sum(x, axis=(1, 2))
