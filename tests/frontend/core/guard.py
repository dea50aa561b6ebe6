def f(x: float):
    if x < 0.0:
        return 0
    y = 2.0 * x
    return y
