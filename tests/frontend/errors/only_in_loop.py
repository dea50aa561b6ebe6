def f(x: float):
    for i in range(3):
        y = x * i
    return y
