import chadllvm as cl


def f(xs: list[cl.f64[:]]):
    ys = 2.0 * xs
    return ys, xs < 1.0, -xs
