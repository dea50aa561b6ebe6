import numpy as np


def f(n: int):
    a = np.arange(n)
    a /= 2
    return a
