from dataclasses import dataclass
from typing import Any, Optional


@dataclass(frozen=True)
class Chain:
    head: Any
    tail: Optional["Chain"]


def f(chain: Chain) -> float:
    return chain.head
