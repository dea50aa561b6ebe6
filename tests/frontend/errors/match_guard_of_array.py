from typing import NamedTuple


class Circle(NamedTuple):
    r: float


class Square(NamedTuple):
    side: float


def f(s: Circle | Square) -> float:
    match s:
        case Circle(r) if np.zeros(3):
            return r
        case _:
            return 1.0
