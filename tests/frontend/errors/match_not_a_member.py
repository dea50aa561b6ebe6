from typing import NamedTuple


class Circle(NamedTuple):
    r: float


class Square(NamedTuple):
    side: float


def f(s: Circle | None) -> float:
    match s:
        case Circle(r):
            return r
        case Square(a):
            return a
        case None:
            return 0.0
