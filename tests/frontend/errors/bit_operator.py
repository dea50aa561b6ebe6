def f(x: float):
    return x > 0.0 & x < 1.0
