from chadllvm.frontend import f64


def f(x: f64[:]):
    a = x.copy()
    a[0, :] = 0.0
    return a
