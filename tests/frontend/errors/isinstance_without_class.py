def f(x: float | None) -> float:
    return 1.0 if isinstance(x) else 0.0
