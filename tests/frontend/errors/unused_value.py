def f(x: float):
    x + 1.0
    return x
