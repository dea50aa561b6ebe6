def f(x: float):
    a = [x, x]
    a *= 2
    return a
