from chadllvm.frontend import f64


def f(x: f64[:]):
    y = x.pop()
    return y
