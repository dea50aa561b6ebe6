from jitted import Jitted


@Jitted
def g(a, b: float = 1.0):
    return a + b


def f(x: float):
    return g(x, x, x)
