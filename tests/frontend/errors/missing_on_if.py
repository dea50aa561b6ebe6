def f(x: float):
    if x > 0.0:
        pass
    else:
        y = x
    return y
