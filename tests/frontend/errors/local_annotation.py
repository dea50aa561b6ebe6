def f(x: float):
    n: int = x
    return n
