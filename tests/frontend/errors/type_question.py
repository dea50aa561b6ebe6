def f(x: float):
    if isinstance(x, float):
        return x
    return x + 1
