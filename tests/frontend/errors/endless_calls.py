import chadllvm as cl


@cl.jit(static_argnames="n")
def g(x: float, n) -> float:
    return x * g(x, n - 1)


def f(x: float) -> float:
    return g(x, 3)
