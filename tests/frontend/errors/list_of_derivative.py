import chadllvm as cl


def f(x: cl.f64[:]):
    return cl.grad(lambda t: t[0] * t[1])([value for value in x])
