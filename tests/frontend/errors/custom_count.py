import chadllvm as cl


@cl.custom_vjp
def f(x: float, y: float, n: int) -> float:
    return x * y * n


def backward(kept, ct):
    x, y, n = kept
    return ct * y * n, ct * x * n, ct, 0.0


f.defvjp(lambda x, y, n: (x * y * n, (x, y, n)), backward)
