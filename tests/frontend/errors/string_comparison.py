def f(x: float):
    return x if x == "a" else 0.0
