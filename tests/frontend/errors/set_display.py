def f(x: float):
    y = {x}
    return x
