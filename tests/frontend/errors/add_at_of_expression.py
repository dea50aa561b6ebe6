import numpy as np

from chadllvm.frontend import f64


def f(x: f64[:]):
    np.add.at(x[1:], 0, 1.0)
    return x
