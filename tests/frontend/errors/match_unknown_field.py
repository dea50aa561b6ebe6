from typing import NamedTuple


class Circle(NamedTuple):
    r: float


class Square(NamedTuple):
    side: float


def f(s: Circle | Square) -> float:
    match s:
        case Circle(radius=r):
            return r
        case Square(a):
            return a
