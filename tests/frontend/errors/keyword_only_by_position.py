import chadllvm as cl


@cl.jit
def g(x: float, *, y: float = 1.0):
    return x * y


def f(x: float):
    return g(x, 2.0)
