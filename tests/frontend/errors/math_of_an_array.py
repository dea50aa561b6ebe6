import math

from chadllvm.frontend import f64


def f(x: f64[:]):
    return math.exp(x)
