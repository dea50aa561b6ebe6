def f(x: float):
    return sum(i for i in range(x))
