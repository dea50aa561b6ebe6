import numpy as np


def f(x: float) -> float:
    a = np.ones(3)
    while a:
        x = 0.5 * x
    return x
