from chadllvm.frontend import f64


def f(x: f64[:]):
    return [a * b for a, b in zip(x, x, strict=len(x) > 2)]
