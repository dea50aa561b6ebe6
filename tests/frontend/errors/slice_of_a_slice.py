from chadllvm.frontend import f64


def f(x: f64[:]):
    a = x.copy()
    a[1:][0] = 2.0
    return a
