def f(x: float):
    s = "{}".format(x)
    return x
