def f(x: float):
    y = x
