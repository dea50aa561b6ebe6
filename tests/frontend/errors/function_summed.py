def f(x: float) -> float:
    scale = 2.0 * x

    def g(t):
        return scale * t

    return sum(g)
