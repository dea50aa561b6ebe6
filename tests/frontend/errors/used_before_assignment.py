def f(x: float):
    y = x + z
    z = 1.0
    return y + z
