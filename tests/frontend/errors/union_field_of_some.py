from typing import NamedTuple


class Circle(NamedTuple):
    r: float


class Square(NamedTuple):
    side: float


def f(s: Circle | Square | None) -> float:
    return s.r
