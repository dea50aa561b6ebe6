import chadllvm as cl


def f(x: float, n: int) -> float:
    def derivative(t, k):
        return t * t * t if k == 0 else cl.grad(derivative)(t, k - 1)

    return derivative(x, n)
