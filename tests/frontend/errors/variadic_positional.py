def f(x: float, *rest):
    return x
