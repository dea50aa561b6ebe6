from typing import NamedTuple


class Walker(NamedTuple):
    position: float

    def moved(self, by: float):
        return self.position + bye


def f(x: float):
    return Walker(x).moved(1.0)
