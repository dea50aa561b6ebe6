def f(x: float):
    y = True
    if x > 0.0:
        y = 1
    return y
