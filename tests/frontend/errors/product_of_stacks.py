import chadllvm as cl


def f(x: cl.f64[:, :, :], y: cl.f64[:, :, :, :]):
    return x @ y
