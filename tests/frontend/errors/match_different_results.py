from typing import NamedTuple


class Circle(NamedTuple):
    r: float


class Square(NamedTuple):
    side: float


def f(s: Circle | Square):
    match s:
        case Circle(r):
            return r
        case Square():
            return s
