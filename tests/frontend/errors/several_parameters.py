import chadllvm as cl


def f(x: complex, y: cl.f64[:], z: "unknown", mode: bytes, w: float = None):
    return y[0]
