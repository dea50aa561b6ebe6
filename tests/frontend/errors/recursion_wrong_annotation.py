from jitted import Jitted


@Jitted
def g(n) -> int:
    return 1 if n == 0 else 0.5 * g(n - 1)


def f(n: int) -> float:
    return g(n)
