def f(x: float):
    if x > 0.0:
        if x > 1.0:
            return x
    else:
        return 2.0
