def f(x: float):
    p = (x, (2.0, x))
    s = 0.0
    for i in range(2):
        s += p[i]
    return s
