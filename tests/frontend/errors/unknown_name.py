def f(x: float):
    return x + undefined
