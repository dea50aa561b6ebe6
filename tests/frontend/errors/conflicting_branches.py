def f(x: float):
    if x > 0.0:
        y = x
    else:
        y = (x, x)
    return y
