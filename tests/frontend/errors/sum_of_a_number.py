import numpy as np


def f(x: float):
    return np.cumsum(x)
