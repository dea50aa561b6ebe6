from dataclasses import dataclass
from typing import Optional


@dataclass(frozen=True)
class Chain:
    head: float
    tail: Optional["Chain"]


def f(first: Chain, second: Chain) -> bool:
    return first == second
