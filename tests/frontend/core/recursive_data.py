from dataclasses import dataclass
from typing import Optional


@dataclass(frozen=True)
class Chain:
    head: float
    tail: Optional["Chain"]


def f(chain: Chain) -> Chain:
    found = Chain(0.0, None)
    if chain.tail is not None:
        found = Chain(chain.tail.head, found)
    return found
