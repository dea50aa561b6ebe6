import numpy as np

from chadllvm.frontend import f64


def f(x: f64[:]):
    a = np.zeros(3, dtype=int)
    a[:2] = x[:2]
    return a
