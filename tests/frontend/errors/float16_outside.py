import numpy as np

TABLE = np.ones(3, np.float16)


def f(x: float):
    return x + TABLE[0]
