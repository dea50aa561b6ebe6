def f(x: float):
    a = [x, 2.0]
    return a[-1] + a.pop()
