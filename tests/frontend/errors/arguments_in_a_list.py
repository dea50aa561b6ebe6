import chadllvm as cl


def f(a: cl.f64[:], b: cl.f64[:]) -> float:
    items = [a, b]
    items[0], items[1] = items[1], items[0]
    return items[0][0]
