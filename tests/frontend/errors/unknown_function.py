import math


def f(x: float):
    return math.nextafter(x, 1.0)
