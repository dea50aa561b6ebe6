from jitted import Jitted


@Jitted
def g(x, n: int) -> float:
    return 0.0 if n == 0 else g((x, x), n - 1)


def f(x: float, n: int) -> float:
    return g(x, n)
