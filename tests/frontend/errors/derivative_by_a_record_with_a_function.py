from collections.abc import Callable
from typing import NamedTuple

import chadllvm as cl


class Kernel(NamedTuple):
    shape: Callable
    width: float


def f(x: float) -> float:
    kernel = Kernel(lambda t: t * x, x)
    return cl.grad(lambda k: k.shape(k.width))(kernel).width
