def f(x: float):
    if x > 0.0:
        y = x
    return y
