def f(x: float):
    class C:
        pass

    return x
