def f(x: float) -> int:
    return x
