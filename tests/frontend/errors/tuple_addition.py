def f(x: float):
    return (x, x) + (x, 1.0)
