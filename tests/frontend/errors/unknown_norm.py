import numpy as np

from chadllvm.frontend import f64


def f(x: f64[:, :]):
    return np.linalg.norm(x, 2)
