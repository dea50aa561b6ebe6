def f(x: float):
    return lambda t: t * x
