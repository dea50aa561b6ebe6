import chadllvm as cl


def f(x: cl.f64[:], y: float) -> float:
    a = x.copy()
    a[0.5] = 1.0
    a[1, 1] = 2.0
    y[0] = 1.0
    y += missing
    a.append(y)
    return a[0] + y
