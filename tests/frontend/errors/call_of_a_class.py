from decimal import Decimal


def f(x: float):
    return Decimal(x)
