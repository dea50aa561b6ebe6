from jitted import Jitted


@Jitted
def g(a, b: float = 1):
    return a + b


def f(x: float, n: int):
    return g(x) + g(n, b=x)
