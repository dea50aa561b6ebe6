import chadllvm as cl


@cl.jit
def total(xs: list[list[float]]) -> float:
    return sum(sum(x) for x in xs)


def f(xs: list[cl.f64[:]]) -> float:
    return total(xs)
