import chadllvm as cl


def f(a: cl.f32[:], x: float):
    b = a.copy()
    b[0] = x
    return b
