import numpy as np

TABLE = np.ones(3, np.float32)


def f(x: float):
    return x + TABLE[0]
