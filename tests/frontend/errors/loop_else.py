def f(x: float):
    for i in range(3):
        x = x * 2.0
    else:
        x = 0.0
    return x
