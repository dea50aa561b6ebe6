def f(x: bool | float) -> float:
    return 1.0
