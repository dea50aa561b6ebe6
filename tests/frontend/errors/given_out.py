import numpy as np

from chadllvm.frontend import f64


def f(x: f64[:]):
    y = x.copy()
    np.add(x, 1.0, out=y)
    return y
