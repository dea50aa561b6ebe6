from chadllvm.frontend import f64


def f(x: f64[:]):
    x.append(1.0)
    return x
