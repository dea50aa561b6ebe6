from dataclasses import dataclass
from typing import Optional


@dataclass(frozen=True)
class Chain:
    head: float
    tail: Optional["Chain"]


def f(chain: Chain) -> float:
    chain.head = 2.0
    return chain.head
