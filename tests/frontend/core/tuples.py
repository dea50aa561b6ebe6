def f(x: float):
    p = (x, (1, 2.0))
    a, (b, c) = p
    return c, a + b
