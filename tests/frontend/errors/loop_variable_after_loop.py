def f(x: float):
    for i in range(3):
        x = x * i
    return x + i
