import chadllvm as cl


@cl.jit
def g(a, b):
    return a + b


def f(x: float):
    return g(x)
