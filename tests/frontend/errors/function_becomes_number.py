def f(x: float, n: int) -> float:
    g = lambda t: t
    for _ in range(n):
        g = g(x)
    return g(x)
