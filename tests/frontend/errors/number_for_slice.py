from chadllvm.frontend import f64


def f(x: f64[:]):
    a = [v for v in x]
    a[1:] = 0.0
    return a
