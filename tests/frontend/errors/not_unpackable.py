def f(x: float):
    a, b = x
    return a + b
