VALUES = [1.0, object()]


def f(x: float):
    return x + VALUES[0]
