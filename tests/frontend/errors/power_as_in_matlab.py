def f(x: float):
    return x ^ 2
