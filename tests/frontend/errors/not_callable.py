def f(x: float):
    return x(1.0)
