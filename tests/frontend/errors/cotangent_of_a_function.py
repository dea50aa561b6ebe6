import chadllvm as cl


def f(x: float) -> float:
    g, back = cl.vjp(lambda s: lambda t: s * t, x)
    return back(g)[0]
