def f(x: float) -> float:
    g = lambda t: t * x
    return g[0]
