def f(x: float, n: int):
    for k in range(n):
        if x > k:
            return (x, x)
    return x
