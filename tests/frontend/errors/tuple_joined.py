def f(x: float):
    p = (1.0, 2.0)
    p = p + (x,)
    return p[2]
