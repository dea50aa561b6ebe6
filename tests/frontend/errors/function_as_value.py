import math


def f(x: float):
    g = math.exp
    return g(x)
