from chadllvm.frontend import f64


def f(x: f64[:]):
    return [v for v in x] * 2
