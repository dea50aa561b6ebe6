def f(x: float | None, y: float) -> float:
    return y if isinstance(x, y) else 0.0
