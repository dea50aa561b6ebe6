from chadllvm.frontend import f64


def f(m: f64[:, :], v: f64[:]):
    a = m.copy()
    a @= v
    return a
