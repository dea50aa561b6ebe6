def f(x: float, n: int) -> float:
    def halves(m):
        for i in range(m):
            yield 0.5 * i

    return sum(v * x for v in reversed(halves(n)))
