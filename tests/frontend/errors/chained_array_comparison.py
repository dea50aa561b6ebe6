from chadllvm.frontend import f64


def f(x: f64[:]):
    return 0.0 < x < 1.0
