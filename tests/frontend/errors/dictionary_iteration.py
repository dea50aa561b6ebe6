from typing import TypedDict


class Line(TypedDict):
    slope: float
    offset: float


def f(line: Line):
    pairs = line.items()
    return line["slope"]
