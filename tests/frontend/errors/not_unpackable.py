from chadllvm.frontend import f64


def f(x: f64[:]):
    a, b = x
    return a + b
