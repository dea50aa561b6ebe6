from typing import NamedTuple


class Point(NamedTuple):
    x: float


def f(x: float) -> float:
    point = Point(x)
    point.x = 1.0
    return point.x
