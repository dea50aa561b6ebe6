from dataclasses import dataclass


@dataclass
class Box:
    width: float
    height: float = 1.0


def f(box: Box):
    return box.width
