import chadllvm as cl


def f(x: cl.f64[:, :]) -> float:
    return x[0]
