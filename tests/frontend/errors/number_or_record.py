from typing import NamedTuple


class Circle(NamedTuple):
    r: float


def f(x: float):
    return x if x > 0 else Circle(x)
