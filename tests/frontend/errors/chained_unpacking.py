def f(x: float):
    a, b = c, d = (x, x)
    return a + b + c + d
