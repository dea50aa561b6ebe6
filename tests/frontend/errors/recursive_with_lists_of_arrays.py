from dataclasses import dataclass
from typing import Optional

import chadllvm as cl


@dataclass(frozen=True)
class Chain:
    head: float
    tail: Optional["Chain"]


def f(chain: Chain, lists: list[cl.f64[:]]) -> float:
    return cl.grad(lambda both: both[0].head * both[1][0][0])((chain, lists))[0].head
