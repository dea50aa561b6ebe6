from dataclasses import dataclass


@dataclass(frozen=True)
class Point:
    x: float
    y: float = 0.0


def f(p: Point):
    return sum(v for v in p)
