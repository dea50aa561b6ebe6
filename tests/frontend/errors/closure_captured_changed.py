def f(x: float) -> float:
    g = lambda t: t * x
    x = 2.0 * x
    return sum(map(g, [1.0]))
