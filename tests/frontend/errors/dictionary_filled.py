def f(n: int):
    d = {}
    d[n] = 1.0
    return d[n]
