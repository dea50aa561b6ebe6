def f(x: float, n: int) -> float:
    g = (lambda t, s: t * s) if n > 0 else (lambda t, u: t + u)
    return g(x, s=2.0)
