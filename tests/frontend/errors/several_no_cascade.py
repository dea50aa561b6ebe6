from math import sin


def f(x: float) -> float:
    y = sinus(x)
    z = 2.0 * y
    a, b = z, y + 1.0
    c = a if b > 0.0 else sin(z)
    return c + missing
