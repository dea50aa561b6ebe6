def f(x: float, y: float | None) -> float:
    if y is not None or x > 0:
        return x + y
    return x
