from jitted import Jitted


@Jitted
def f(x: float):
    return g(x) if x > 0.0 else 1.0


@Jitted
def g(x):
    return f(x - 1.0)
