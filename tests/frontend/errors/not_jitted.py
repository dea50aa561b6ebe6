def g(x):
    return x


def f(x: float):
    return g(x)
