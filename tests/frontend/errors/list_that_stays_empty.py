def f(x: float):
    a = []
    return len(a) + x
