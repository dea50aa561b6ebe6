import chadllvm as cl


def f(x: cl.f64[:], n: int):
    y = [value for value in x] if n > 2 else x
    y *= 2
    return y
