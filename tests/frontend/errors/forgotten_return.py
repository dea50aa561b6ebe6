def f(x: float) -> float:
    y = x * 2
