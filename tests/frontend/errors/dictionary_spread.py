def f(x: float):
    return {**x, "a": 1.0}
