def f(x: float):
    y = None
    if x > 0:
        y = x
    return y
