def f(x: float) -> float:
    x["a"] = 1.0
    return x
