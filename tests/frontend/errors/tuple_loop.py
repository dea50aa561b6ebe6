from chadllvm.frontend import f64


def f(x: f64[:], y: float):
    s = 0.0
    for v in (x, y):
        s += v
    return s
