def f(x: float):
    a = (x, x)
    a[1:] = 0.0
    return a
