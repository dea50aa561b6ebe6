import chadllvm as cl


def f(x: float):
    return cl.fold(max, x)
