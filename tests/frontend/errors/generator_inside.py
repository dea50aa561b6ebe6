def f(x: float) -> float:
    def squares(n):
        for k in range(n):
            yield x * k

    return sum(squares(3))
