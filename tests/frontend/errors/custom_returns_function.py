import chadllvm as cl


@cl.custom_vjp
def line(slope: float):
    return lambda t: slope * t


line.defvjp(lambda slope: (line(slope), None), lambda _, ct: 0.0)


def f(x: float) -> float:
    return line(2.0)(x)
