from chadllvm.frontend import f64


def f(x: f64[:]):
    return [1.0, 2.0] + [[3.0]]
