from typing import NamedTuple


class Circle(NamedTuple):
    r: float


class Square(NamedTuple):
    side: float


def f(a: bool, b: bool) -> float:
    match a, b:
        case True, True:
            return 1.0
        case False, _:
            return 2.0
