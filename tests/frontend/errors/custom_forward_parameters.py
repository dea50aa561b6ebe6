import chadllvm as cl


@cl.custom_vjp
def f(x: float, y: float) -> float:
    return x * y


def forward(x):
    return x * x, x


f.defvjp(forward, lambda x, ct: (ct, ct))
