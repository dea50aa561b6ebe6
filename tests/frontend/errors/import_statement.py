def f(x: float):
    import math

    return math.exp(x)
