def f(x: list[float]):
    return x[0]
