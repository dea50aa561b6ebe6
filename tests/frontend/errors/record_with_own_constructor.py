from dataclasses import dataclass


@dataclass(frozen=True)
class Box:
    width: float
    height: float = 1.0

    def __post_init__(self):
        assert self.width > 0.0


def f(x: float):
    return Box(x).width
