from typing import NamedTuple


class Circle(NamedTuple):
    r: float


class Square(NamedTuple):
    side: float


def f(n: int) -> float:
    match np.arange(n):
        case [x, y]:
            return x
        case _:
            return 1.0
