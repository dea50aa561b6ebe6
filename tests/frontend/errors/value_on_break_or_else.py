def f(x: float) -> float:
    while x < 1.0:
        x = 2.0 * x
        if x > 0.5:
            y = x
            break
    else:
        z = x
    return y * z
