def f(n: int, m: int):
    return n != 0 and m // n > 1
