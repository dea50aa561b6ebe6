from typing import NamedTuple


class Circle(NamedTuple):
    r: float

    def area(self) -> float:
        return self.r * self.r


class Square(NamedTuple):
    side: float


def f(s: Circle | Square) -> float:
    return s.area()
