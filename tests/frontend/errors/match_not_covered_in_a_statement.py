from typing import NamedTuple


class Circle(NamedTuple):
    r: float


class Square(NamedTuple):
    side: float


def f(s: Circle | Square, x: float) -> float:
    match s:
        case Circle(r):
            x = r
    return x
