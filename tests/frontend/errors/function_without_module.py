def f(x: float):
    return exp(x)
