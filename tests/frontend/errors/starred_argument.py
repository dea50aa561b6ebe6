def f(x: float):
    p = (x, x)
    return max(*p)
