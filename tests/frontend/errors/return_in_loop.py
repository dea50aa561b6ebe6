def f(x: float):
    for i in range(3):
        if i > x:
            return x
    return 0.0
