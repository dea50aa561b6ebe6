from typing import TypedDict


class Line(TypedDict):
    slope: float
    offset: float


def f(line: Line):
    return line.setdefault("slope", 0.0)
