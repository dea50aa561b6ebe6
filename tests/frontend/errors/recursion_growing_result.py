from jitted import Jitted


@Jitted
def g(n):
    if n == 0:
        return lambda x: x
    h = g(n - 1)
    return lambda x: 2.0 * h(x)


def f(x: float, n: int) -> float:
    return g(n)(x)
