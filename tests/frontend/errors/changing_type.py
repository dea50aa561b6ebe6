def f(x: float):
    s = 0.0
    for i in range(3):
        s = (s, x)
    return s
