NAME = "a string"


def f(x: float):
    return x + NAME
