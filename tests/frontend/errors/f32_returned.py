import chadllvm as cl


def f(x: cl.f32) -> float:
    return x
