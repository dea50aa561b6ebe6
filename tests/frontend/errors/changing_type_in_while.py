def f(x: float) -> float:
    y = x
    while x > 1.0:
        y = (y, x)
        x = 0.5 * x
    return y
