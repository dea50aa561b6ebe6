def f(x: float):
    y = 1
    if x > 0.0:
        y = x
        unused = 2.0
    return y
