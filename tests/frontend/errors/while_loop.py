def f(x: float):
    while x < 1.0:
        x = x * 2.0
    return x
