from chadllvm.frontend import f64, i64


def f(x: f64[:, :, :], i: i64[:]):
    return x[i, :, i]
