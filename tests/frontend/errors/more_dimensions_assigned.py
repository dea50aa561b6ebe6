import numpy as np

from chadllvm.frontend import f64


def f(x: f64[:, :]):
    a = np.zeros(3)
    a[1:] = x
    return a
