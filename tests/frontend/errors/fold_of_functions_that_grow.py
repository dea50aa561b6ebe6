import chadllvm as cl


def f(x: float, n: int) -> float:
    steps = [lambda t, k=k: t + k for k in range(n)]
    return cl.fold(lambda p, q: lambda t: p(q(t)), steps)(x)
