from typing import NamedTuple


class Circle(NamedTuple):
    r: float


class Square(NamedTuple):
    side: float


def f(n: int) -> float:
    match n:
        case 1 | 2:
            return 1.0
        case -1:
            return 2.0
