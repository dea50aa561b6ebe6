def f(x: float):
    y = 1
    if x > 0.0:
        y = x
        unused = 2.0  # noqa: F841
    return y
