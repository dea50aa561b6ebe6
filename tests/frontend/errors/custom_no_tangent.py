import chadllvm as cl


@cl.custom_jvp
def f(x: float) -> float:
    return x * x


@f.defjvp
def rule(primals, tangents):
    return 2.0 * primals[0] * tangents[0]
