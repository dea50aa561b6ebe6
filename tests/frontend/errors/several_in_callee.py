import chadllvm as cl


@cl.jit
def g(y: float) -> float:
    a = y.real
    return a + b


def f(x: float) -> float:
    first = g(x)
    second = g(2.0 * x)
    return first + second + c
