def f(x: float, n: int) -> float:
    def power(k):
        return 1.0 if k == 0 else x * power(k - 1)

    old = power
    power = lambda k: x  # noqa: E731
    return old(n) + power(n)
