import chadllvm as cl


@cl.jit
def g(x: float, n: int) -> float:
    return x * x if n == 0 else cl.grad(g)(x, n - 1)


def f(x: float, n: int) -> float:
    return g(x, n)
