import math

from chadllvm import jvp


def f(x: float) -> float:
    return jvp(math.sin, (x,), (1.0,))[1]
