import chadllvm as cl


def f(x: cl.f32, z: float):
    y = x
    if x > 0.5:
        y = z
    return y
