def f(x: float, n: int) -> float:
    y = 0.0
    for _ in range(n):
        if x > 1.0:
            y = (x, x)
            break
        x = 2.0 * x
    return y
