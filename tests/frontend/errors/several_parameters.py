import chadllvm as cl


def f(x: list, y: cl.f64[:], z: "unknown", mode: str, w: float = None):
    return y[0]
