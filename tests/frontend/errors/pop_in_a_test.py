def f(x: float):
    a = [x, 2.0]
    while a.pop() > 1.0:
        x += 1.0
    return x
