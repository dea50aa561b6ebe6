from chadllvm.frontend import f64


def f(x: f64[:]):
    a = []
    a.append(1.0)
    a.append(x)
    return a
