def f(x: float):
    a = []
    a.append(x, 1.0)
    return a
