def f(x: float):
    p = (x, 2.0)
    return p[2]
