def f(x: float, n: int):
    s = 0
    for i in range(n):
        t = x * i
        s = s + t
    return s
