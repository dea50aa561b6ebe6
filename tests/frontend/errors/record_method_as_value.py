from dataclasses import dataclass


@dataclass(frozen=True)
class Box:
    width: float
    height: float = 1.0

    def area(self):
        return self.width * self.height


def f(box: Box):
    return box.area + 1.0
