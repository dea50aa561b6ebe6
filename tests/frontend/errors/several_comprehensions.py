import numpy as np

import chadllvm as cl


def f(x: cl.f64[:]) -> float:
    a = np.array([v.real for v in x])
    b = [w + 1.0 for w in y]
    c = np.array([u for u in x if u > z])
    return sum(a) + sum(b) + sum(q for q in c)
