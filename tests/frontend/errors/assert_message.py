def f(x: float) -> float:
    assert x > 0.0, x
    return x
