import numpy as np


def f(x: float, n: int) -> float:
    waiting = [x]
    while waiting:
        waiting = np.array([v - 1.0 for v in waiting])
    return x
