from chadllvm.frontend import f64


def f(x: f64[:]):
    x[0] = 1.0
    return x
