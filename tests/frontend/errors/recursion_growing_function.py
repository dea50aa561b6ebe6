from jitted import Jitted


@Jitted
def g(h, n: int):
    return h(1.0) if n == 0 else g(lambda x: h(x) + 1.0, n - 1)


def f(n: int) -> float:
    return g(lambda x: x, n)
