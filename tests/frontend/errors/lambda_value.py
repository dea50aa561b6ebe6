def f(x: float):
    g = lambda y: y
    return g(x)
