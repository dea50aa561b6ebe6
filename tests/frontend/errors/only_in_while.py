def f(x: float) -> float:
    while x > 1.0:
        if x > 2.0:
            y = x
        x = 0.5 * x
    return y
