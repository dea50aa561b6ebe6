from typing import NotRequired, TypedDict


class Line(TypedDict):
    slope: float
    offset: NotRequired[float]


def f(line: Line):
    return line["slope"]
