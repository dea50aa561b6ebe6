import chadllvm as cl


# fmt: off
@cl.jit(
    optimize=0,
)
def f(
    x: float,
    y: float,
) -> float:
    return x + (
        y +
        z
    )
