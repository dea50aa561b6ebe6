from jitted import Jitted


@Jitted
def f(x: float):
    return g(x)


@Jitted
def g(x):
    return f(x - 1.0)
