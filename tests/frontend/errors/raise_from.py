def f(x: float) -> float:
    if x < 0.0:
        raise ValueError("x") from None
    return x
