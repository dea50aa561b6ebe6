def f(x: float):
    y = 0.0
    for i in range(3):
        y = y + z
        z = x
    return y
