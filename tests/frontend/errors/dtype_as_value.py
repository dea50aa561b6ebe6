import chadllvm as cl


def f(x: cl.f64[:]):
    kind = x.dtype
    return x
