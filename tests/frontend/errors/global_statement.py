G = 1.0


def f(x: float):
    global G
    G = x
    return x
