from typing import NamedTuple

import chadllvm as cl


class Circle(NamedTuple):
    r: float


class Square(NamedTuple):
    side: float


@cl.jit
def area(s: Circle | None) -> float:
    return 0.0 if s is None else s.r


def f(x: float) -> float:
    return area(Square(x))
