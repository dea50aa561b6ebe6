def f(x: float) -> float:
    def same(t):
        return t

    g, y = same, x
    while y < 10.0:
        y = g(y) + 1.0
        g = lambda t, h=g: 2.0 * h(t)
    return y
