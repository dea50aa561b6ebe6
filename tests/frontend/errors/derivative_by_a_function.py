import chadllvm as cl


def f(x: float) -> float:
    g = lambda t: t * x
    return cl.grad(lambda h: h(2.0))(g)(x)
