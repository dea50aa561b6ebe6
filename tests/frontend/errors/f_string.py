def f(x: float):
    y = f"{x}"
    return x
