def f(x: float) -> float:
    while x > 1.0:
        y = x
        x = 0.5 * x
    return y
