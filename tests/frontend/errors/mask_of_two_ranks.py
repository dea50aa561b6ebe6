from chadllvm.frontend import f64


def f(x: f64[:], m: f64[:, :]):
    a = x.copy()
    a[m > 0.0] = 0.0
    return a
