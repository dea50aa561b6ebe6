import numpy as np


def f(n: int):
    return np.mgrid[0:, 0:n]
