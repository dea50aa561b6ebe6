def f(x: float):
    y = x
    del y
    return x
