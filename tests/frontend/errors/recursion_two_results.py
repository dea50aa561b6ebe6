from jitted import Jitted


@Jitted
def g(n):
    if n == 0:
        return 0.0
    return g(n - 1), n


def f(n: int) -> float:
    return g(n)[0]
