import numpy as np


def f(x: float):
    with np.errstate(all="raise"):
        y = 1.0 / x
    return y
