def f(x: float):
    return x + float(input())
