from typing import NamedTuple


class Point(NamedTuple):
    x: float
    y: float = 0.0


def f(p: Point):
    return p._replace(z=1.0)
