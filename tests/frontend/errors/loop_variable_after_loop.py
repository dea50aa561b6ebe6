def f(x: float, n: int):
    for i in range(n):
        x = x * i
    if x > 1.0:
        i = 0
    return x + i
