def f(x: float, n: int) -> float:
    g = lambda t: t
    for _ in range(n):
        g = lambda t, h=g: h(h(t)) + x
    return g(x)
