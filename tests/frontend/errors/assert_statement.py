def f(x: float):
    assert x > 0.0
    return x
