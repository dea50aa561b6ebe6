def f(x: float) -> float:
    g = lambda t: t * x
    (y,) = g
    return y
