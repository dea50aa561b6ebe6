def f(x: float):
    return x + 100000000000000000000
