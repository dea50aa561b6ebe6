def f(x: float) -> float:
    def down(t):
        return down(t - 1.0) + 1.0

    return down(x)
