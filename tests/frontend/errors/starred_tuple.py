def f(x: float):
    p = (x, x)
    return (*p, x)
