from typing import NamedTuple


class Point(NamedTuple):
    x: float
    y: float = 0.0


def f(p: Point):
    p.x = 1.0
    return p
