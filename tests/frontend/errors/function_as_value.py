import numpy as np


def f(x: float):
    g = np.polyfit
    return g(x)
