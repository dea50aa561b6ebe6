import chadllvm as cl


def f(x: float) -> float:
    return cl.grad(2.0 * x)(x)
