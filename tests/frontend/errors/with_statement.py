def f(x: float):
    with open(x) as y:
        return y
