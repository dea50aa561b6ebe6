def f(x: float, n: int) -> float:
    def power(k: int) -> float:
        return 1.0 if k == 0 else x * power(k - 1)

    return power(n)
