import chadllvm as cl


@cl.jit
def scaled(x):
    return 2.0 * x


def f(x: cl.f64[:]):
    scaled(x)
    return x
