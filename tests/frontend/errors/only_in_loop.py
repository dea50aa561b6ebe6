def f(x: float):
    for i in range(3):
        if x > i:
            y = x * i
    return y
