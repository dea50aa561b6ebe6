from chadllvm.frontend import f64


def f(x: f64[:]):
    return sum(v for v in x if v > 0.0)
