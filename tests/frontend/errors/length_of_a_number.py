def f(x: float):
    return len(x)
