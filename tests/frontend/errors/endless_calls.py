from jitted import Jitted


@Jitted
def repeated(g, x, n):
    if n == 0:
        return g(x)
    return repeated(lambda t: g(g(t)), x, n - 1)


def f(x: float, n: int) -> float:
    return repeated(lambda t: t * t, x, n)
