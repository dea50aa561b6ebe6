import chadllvm as cl


@cl.custom_vjp
def g(x: float) -> float:
    return x * x


def f(x: float):
    return g(x) + 1.0
