def f(x: float):
    try:
        y = x
    except ValueError:
        y = 0.0
    return y
