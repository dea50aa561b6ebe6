def f(x: float, n: int) -> float:
    def power(k):
        return 1.0 if k == 0 else x * power(k - 1)

    x = 2.0 * x
    return sum(map(power, range(n)))
