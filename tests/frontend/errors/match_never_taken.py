from typing import NamedTuple


class Circle(NamedTuple):
    r: float


class Square(NamedTuple):
    side: float


def f(s: Circle | Square) -> float:
    match s:
        case Circle(r) | Square(r):
            return r
        case _:
            return 0.0
