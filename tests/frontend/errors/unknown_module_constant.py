import math


def f(x: float):
    return x * math.pie
