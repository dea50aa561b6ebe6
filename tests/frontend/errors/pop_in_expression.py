def f(x: float):
    a = [x, 2.0]
    return a.pop() + 1.0
