def f(x: float):
    a = [1.0, 2.0]
    a += x
    return a
