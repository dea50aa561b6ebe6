from chadllvm.frontend import f64


def f(x: f64[:]):
    y = [v * 2.0 for v in x]
    return y + [v for v in x]
