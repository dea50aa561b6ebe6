from chadllvm.frontend import f64


def f(x: f64[:]):
    a = [1.0]
    y = a.append(2.0)
    return y
