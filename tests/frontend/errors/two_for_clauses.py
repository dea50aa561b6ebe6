from chadllvm.frontend import f64


def f(x: f64[:]):
    return [a * b for a in x for b in x]
