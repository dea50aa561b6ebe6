from chadllvm.frontend import f64


def f(x: f64[:]):
    return min(x, default=0.0)
