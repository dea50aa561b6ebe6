import chadllvm as cl


def f(x: cl.f64[:]) -> float:
    def total(values: list[float]) -> float:
        return sum(values)

    return total(x)
