import chadllvm as cl


def f(xs: list[cl.f64[:]]):
    return xs[0, 1] + xs[1.5][0]
