class NotPositive(ValueError):
    pass


def f(x: float) -> float:
    if x < 0.0:
        raise NotPositive("x")
    return x
