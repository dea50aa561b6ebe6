def f(x: float):
    print(x)
    return x
