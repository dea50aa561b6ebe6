def f(x: float):
    y = None
    return x + y
