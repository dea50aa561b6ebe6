def f(x: float):
    if x > 0:
        y = 1.0
    return y * x
