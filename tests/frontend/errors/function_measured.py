def f(x: float) -> float:
    g = lambda t: t * x
    return len(g) * x
