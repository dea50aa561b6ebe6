def f(x: float):
    def g(**options):
        return x

    return g(y=1.0)
