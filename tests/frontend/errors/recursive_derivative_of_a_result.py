from dataclasses import dataclass
from typing import Optional

import chadllvm as cl


@dataclass(frozen=True)
class Chain:
    head: float
    tail: Optional["Chain"]


def f(x: float) -> float:
    out, moved = cl.jvp(lambda t: Chain(t, None), (x,), (1.0,))
    return out.head
