def f(x: float, y: float | None):
    return x * abs(y)
