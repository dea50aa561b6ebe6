from typing import NamedTuple


class Circle(NamedTuple):
    r: float


class Square(NamedTuple):
    side: float


def f(b: tuple[Circle | Square, float] | None) -> float:
    match b:
        case Circle(r), 0.0:
            return r
        case (Square(), x) | (Circle(r=1.0), x):
            return x
        case None:
            return 0.0
