from chadllvm.frontend import f64


def f(x: f64[:, :]):
    return max(x)
