def f(x: float, n: int):
    y = x * n + 2
    return y**2 / n
