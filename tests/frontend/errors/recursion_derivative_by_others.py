import chadllvm as cl


@cl.jit
def newton(x, n: int):
    return x if n == 0 else x - slope(x, n - 1)


@cl.jit
def slope(x, n):
    return cl.grad(newton)(x, n)


def f(x: float, n: int) -> float:
    return newton(x, n)
