from typing import NamedTuple, Optional


class Layer(NamedTuple):
    weights: list[list[float]]
    next: Optional["Layer"]


def f(layer: Layer) -> float:
    return layer.weights[0][0]
