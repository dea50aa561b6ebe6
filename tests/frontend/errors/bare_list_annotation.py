def f(x: list):
    return x[0]
