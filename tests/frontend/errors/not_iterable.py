def f(x: float):
    s = 0.0
    for v in x:
        s += v
    return s
