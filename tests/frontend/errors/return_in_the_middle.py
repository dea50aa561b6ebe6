def f(x: float):
    y = 0.0
    if x > 0.0:
        if x > 1.0:
            return 1.0
        y = x
    return y + 1.0
