def f(x: float):
    y = None
    return y.size + x
