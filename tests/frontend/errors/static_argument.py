import chadllvm as cl


@cl.jit(static_argnames="n")
def g(x: float, n: int):
    return x * n


def f(x: float, n: int):
    return g(x, n)
