from jitted import Jitted


@Jitted
def tower(g, n):
    return g if n == 0 else tower(lambda t: g(g(t)), n - 1)


def f(x: float, n: int) -> float:
    return tower(lambda t: t * x, n)(x)
