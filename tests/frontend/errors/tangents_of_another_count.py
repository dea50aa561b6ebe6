import chadllvm as cl


def f(x: float) -> float:
    return cl.jvp(lambda t, s: t * s, (x, x), (1.0,))[1]
