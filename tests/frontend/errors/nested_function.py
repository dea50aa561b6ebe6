def f(x: float):
    def g(y):
        return x * y

    return g(x)
