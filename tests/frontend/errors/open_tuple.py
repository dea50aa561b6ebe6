from chadllvm.frontend import f64


def f(x: f64[:], n: int):
    squares = tuple(v * v for v in x)
    steps = tuple(range(n))
    return squares[0] + steps[0]
