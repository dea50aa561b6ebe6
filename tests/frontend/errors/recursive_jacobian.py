from dataclasses import dataclass
from typing import Optional

import chadllvm as cl


@dataclass(frozen=True)
class Chain:
    head: float
    tail: Optional["Chain"]


def f(chain: Chain) -> float:
    return cl.jacrev(lambda c: c.head**2)(chain).head
