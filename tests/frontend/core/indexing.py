from chadllvm.frontend import f64


def f(m: f64[:, :], i: int):
    row = m[i]
    return m[i, -1] + m[i][0] + row[1] + m.shape[1]
