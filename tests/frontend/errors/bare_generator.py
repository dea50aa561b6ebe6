from chadllvm.frontend import f64


def f(x: f64[:]):
    y = (v for v in x)
    return sum(y)
