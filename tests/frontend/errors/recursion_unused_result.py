from jitted import Jitted


@Jitted
def g(n):
    if n > 0:
        g(n - 1)
    return n


def f(n: int) -> int:
    return g(n)
