def f(n: int):
    a = [[0.0] for _ in range(n)]
    a[0].append(1.0)
    return a
