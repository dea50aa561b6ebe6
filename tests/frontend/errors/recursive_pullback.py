from dataclasses import dataclass
from typing import Optional

import chadllvm as cl


@dataclass(frozen=True)
class Chain:
    head: float
    tail: Optional["Chain"]


def f(chain: Chain, x: float) -> float:
    out, pullback = cl.vjp(lambda c, t: c.head * t, chain, x)
    return pullback(1.0)[1]
