def f(x: float):
    raise ValueError(x)
