from chadllvm.frontend import f64


def f(x: f64[:], n: int):
    rows = [x[:k] for k in range(1, n)]
    first = rows.pop(0)
    return first[0]
