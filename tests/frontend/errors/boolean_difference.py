from chadllvm.frontend import f64


def f(x: f64[:]):
    return (x > 0.0) - (x > 1.0)
