def outer():
    def inner(x: float):
        return x + unknown

    return inner


f = outer()
