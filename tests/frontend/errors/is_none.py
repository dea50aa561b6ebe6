def f(x: float):
    return 1.0 if x is None else x
