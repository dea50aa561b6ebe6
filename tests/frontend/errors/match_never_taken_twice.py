from typing import NamedTuple


class Circle(NamedTuple):
    r: float


class Square(NamedTuple):
    side: float


def f(s: Circle | Square) -> float:
    match s:
        case Circle():
            return 1.0
        case Circle(r=0.0):
            return 2.0
        case Square():
            return 0.0
