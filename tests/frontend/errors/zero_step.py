def f(x: float):
    return sum(i for i in range(0, 3, 0))
