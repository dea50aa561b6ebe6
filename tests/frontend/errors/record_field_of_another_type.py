from typing import NamedTuple


class Point(NamedTuple):
    x: float
    y: float = 0.0


def f(n: int):
    return Point((1.0, n)).y
