from chadllvm.frontend import f64


def f(x: f64[:]):
    x += 1.0
    return x
