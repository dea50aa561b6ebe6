import math


def f(x: float):
    return math.gamma(x)
