def f(n: int) -> int:
    def fact(k, then):
        return then(1) if k == 0 else fact(k - 1, lambda t: then(k * t))

    return fact(n, lambda t: t)
