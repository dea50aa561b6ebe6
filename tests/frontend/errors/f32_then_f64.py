import chadllvm as cl


def f(x: cl.f32, z: float, n: int):
    y = x
    for _ in range(n):
        y = z
    return y
