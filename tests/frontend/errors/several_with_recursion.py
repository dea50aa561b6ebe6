import chadllvm as cl


@cl.jit
def fact(n: int) -> int:
    if n < 2:
        return one
    return n * fact(n - 1)


def f(n: int) -> float:
    return fact(n) + fact(n + 1) + half
