def f(x: float, y: float | None):
    return x * (y or 1.0)
