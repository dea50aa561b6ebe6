from typing import NamedTuple


class Circle(NamedTuple):
    r: float


class Square(NamedTuple):
    side: float


def f(x: float) -> Circle | None:
    return Square(x)
