def f(x: float):
    if x > 0:
        return x
    return x > 0
