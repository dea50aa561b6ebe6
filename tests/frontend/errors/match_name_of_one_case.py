from typing import NamedTuple


class Circle(NamedTuple):
    r: float


class Square(NamedTuple):
    side: float


def f(s: Circle | Square) -> float:
    match s:
        case Circle(r):
            pass
        case Square(a):
            pass
    return r
