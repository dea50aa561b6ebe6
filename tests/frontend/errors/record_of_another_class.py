from typing import NamedTuple


class Point(NamedTuple):
    x: float
    y: float = 0.0


class Other(NamedTuple):
    x: float
    y: float


def f(p: Point, flag: bool):
    return p if flag else Other(p.x, p.y)
