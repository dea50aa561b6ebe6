def f(x: float, y: float | None) -> float:
    if y is None:
        return x
    y = y if y > 0 else None
    return x + y
