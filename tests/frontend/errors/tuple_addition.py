def f(x: float):
    return (x, x) + x
