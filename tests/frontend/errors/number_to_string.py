def f(x: float):
    s = str(x)
    return x
