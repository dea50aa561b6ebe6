import numpy as np


# fmt: off
def f(x: float):
    return (
        x
        + np.foo(
            x
        )
    )
