from jitted import Jitted


@Jitted
def g(n, x):
    return x if n == 0 else h(n - 1, x)


@Jitted
def h(n, x):
    return g(n, x) + y


def f(n: int, x: float) -> float:
    return g(n, x)
