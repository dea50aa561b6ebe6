from chadllvm.frontend import f64


def f(x: f64[:]):
    a = [v for v in x]
    del a[1:]
    return a
