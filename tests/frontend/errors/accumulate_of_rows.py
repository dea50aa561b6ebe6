from itertools import accumulate

import chadllvm as cl


def f(x: cl.f64[:, :]):
    return list(accumulate(x))
