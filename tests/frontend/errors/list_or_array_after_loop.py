import chadllvm as cl


def f(x: cl.f64[:], n: int):
    y = x + 1.0
    for _ in range(n):
        y = [2.0 * value for value in y]
    return y + y
