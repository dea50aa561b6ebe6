def f(x: float):
    for i in range(3):
        if x > i:
            continue
        x = x + 1.0
    return x
