from dataclasses import dataclass
from typing import Optional


@dataclass(frozen=True)
class Chain:
    head: float
    tail: Optional["Chain"]


def f(chain: Chain) -> float:
    return chain.tail.head
