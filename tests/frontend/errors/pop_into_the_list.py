def f(x: float):
    a = [x, 2.0]
    a[-1] = a.pop()
    return a
