import chadllvm as cl


def f(x: cl.f64[:]):
    return max(x, default=None)
