def f(x: float):
    s = 0.0
    for v in (x, x):
        s += v
    return s
