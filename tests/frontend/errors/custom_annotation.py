import chadllvm as cl


@cl.custom_jvp
def f(x: float) -> float:
    return x * x


@f.defjvp
def rule(primals: tuple[float, float], tangents):
    return primals[0] ** 2, 2.0 * primals[0] * tangents[0]
