from typing import Optional


def f(x: float, y: Optional[float]):
    return x
