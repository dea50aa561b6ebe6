def f(n: int):
    s = 0
    for i in range(n):
        s = [s]
    return s
