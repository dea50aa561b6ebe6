import math


def f(x: float):
    return math.isqrt(x)
