from chadllvm.frontend import f64


def f(x: f64[:]):
    m = [[a * b for b in x] for a in x]
    return sum(row[0] for row in m)
