from typing import NamedTuple


class Circle(NamedTuple):
    r: float


class Square(NamedTuple):
    side: float


def f(n: int) -> float:
    match n:
        case "one":
            return 1.0
        case _:
            return 2.0
