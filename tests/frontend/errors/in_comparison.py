from chadllvm.frontend import f64


def f(x: f64[:]):
    return 1.0 if x in 2.0 else 2.0
