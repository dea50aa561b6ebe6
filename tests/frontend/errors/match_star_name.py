from typing import NamedTuple


class Circle(NamedTuple):
    r: float


class Square(NamedTuple):
    side: float


def f(p: tuple[float, float]) -> float:
    match p:
        case (x, *rest):
            return x
