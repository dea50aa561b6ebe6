import chadllvm as cl


@cl.custom_jvp
def f(x: cl.f64[:]) -> cl.f64[:]:
    return x * x


@f.defjvp
def rule(primals, tangents):
    (x,), (x_t,) = primals, tangents
    return x * x, 2.0 * x @ x_t
