from chadllvm.frontend import f64


def f(x: f64[:]):
    a = [1.0, x]
    return a
