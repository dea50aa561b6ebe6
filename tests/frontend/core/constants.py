import math

import numpy as np

SCALE = 2.5
TABLE = np.array([1.0, 2.0])


def f(x: float):
    return x * SCALE + math.pi * TABLE[0] + TABLE[1]
