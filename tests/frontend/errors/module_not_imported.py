def f(x: float):
    return numpy.exp(x)
