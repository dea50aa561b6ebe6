def f(x: str):
    return 1
