def f(x: float):
    y = [x, x]
    return y
