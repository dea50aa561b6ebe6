def f(x: float):
    return complex(x, 1.0)
