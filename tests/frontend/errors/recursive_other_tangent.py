from dataclasses import dataclass
from typing import Optional

import chadllvm as cl


@dataclass(frozen=True)
class Chain:
    head: float
    tail: Optional["Chain"]


def f(chain: Chain, x: float) -> float:
    return cl.jvp(lambda c: c.head * x, (chain,), (1.0,))[1]
