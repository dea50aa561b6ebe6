def f(x: float) -> float:
    try:
        y = 1.0 / x
    except ZeroDivisionError:
        y = 0.0
    with open("log") as file:
        n = len(file)

    def g(z):
        return z + undefined

    import math

    return math.sin(y) + g(n) + nothing
