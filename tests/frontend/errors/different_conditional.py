def f(x: float):
    return x if x > 0.0 else (x, 1.0)
