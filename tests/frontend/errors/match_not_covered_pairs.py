from typing import NamedTuple


class Circle(NamedTuple):
    r: float


class Square(NamedTuple):
    side: float


def f(s: Circle | Square, t: Circle | Square) -> float:
    match s, t:
        case Circle(r), Circle():
            return r
        case Square(a), _:
            return a
