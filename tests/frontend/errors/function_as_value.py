import numpy as np


def f(x: float):
    g = np.polydiv
    return g(x)
