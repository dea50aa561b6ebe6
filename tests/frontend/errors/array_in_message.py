import numpy as np


def f(x: float) -> float:
    a = x * np.ones(3)
    assert a[0] > 0.0, f"not positive: {a}"
    return x
