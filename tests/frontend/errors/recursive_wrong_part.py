from dataclasses import dataclass
from typing import Optional


@dataclass(frozen=True)
class Chain:
    head: float
    tail: Optional["Chain"]


def f(chain: Chain) -> float:
    longer = Chain(1.0, 2.0)
    return longer.head
