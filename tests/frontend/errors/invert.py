def f(x: bool):
    return ~x
