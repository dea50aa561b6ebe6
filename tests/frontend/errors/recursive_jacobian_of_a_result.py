from dataclasses import dataclass
from typing import Optional

import chadllvm as cl


@dataclass(frozen=True)
class Chain:
    head: float
    tail: Optional["Chain"]


def f(x: float) -> float:
    return cl.jacfwd(lambda t: Chain(t, None))(x).head
