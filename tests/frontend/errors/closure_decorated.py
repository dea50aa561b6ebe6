import chadllvm as cl


def f(x: float) -> float:
    @cl.jit
    def g(t: float) -> float:
        return t * x

    return g(2.0)
