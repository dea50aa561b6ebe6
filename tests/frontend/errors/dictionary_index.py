from typing import TypedDict


class Line(TypedDict):
    slope: float
    offset: float


def f(line: Line, n: int):
    return line[n]
