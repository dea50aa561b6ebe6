from typing import Optional, TypedDict


class Chain(TypedDict):
    head: float
    tail: Optional["Chain"]


def f(chain: Chain) -> float:
    return chain["head"]
