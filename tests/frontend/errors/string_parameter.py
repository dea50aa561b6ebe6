def f(x: float, mode: str):
    return x if mode == "a" else 2 * x
