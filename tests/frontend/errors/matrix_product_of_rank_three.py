from chadllvm.frontend import f64


def f(x: f64[:, :, :], y: f64[:, :]):
    return x @ y
