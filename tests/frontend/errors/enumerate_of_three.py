import chadllvm as cl


def f(x: cl.f64[:]):
    s = 0.0
    for i, j, k in enumerate(x):
        s += k
    return s
