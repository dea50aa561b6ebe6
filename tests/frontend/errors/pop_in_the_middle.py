def f(x: float):
    a = [x, 2.0, 3.0]
    y = a.pop(0)
    return y
