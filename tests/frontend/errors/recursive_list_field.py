from dataclasses import dataclass


@dataclass(frozen=True)
class Rose:
    value: float
    branches: list["Rose"]


def f(rose: Rose) -> float:
    return rose.value
