import chadllvm as cl


@cl.jit(static_argnames="n")
def g(x: float, n: int):
    n = n + 1
    return x * n


def f(x: float):
    return g(x, 2)
