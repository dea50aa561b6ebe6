def f(x: float):
    if x > 0.0:
        return
    return x
