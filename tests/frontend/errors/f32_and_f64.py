import chadllvm as cl


def f(x: cl.f32, y: cl.f64):
    return 2.0 * x * y
