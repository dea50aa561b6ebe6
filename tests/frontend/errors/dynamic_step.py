from chadllvm.frontend import f64


def f(x: f64[:], k: int):
    return x[::k]
