def f(x: float):
    return x + 1j
