from dataclasses import dataclass


@dataclass(frozen=True)
class Box:
    width: float
    height: float = 1.0


def f(box: Box):
    width, height = box
    return width * height
