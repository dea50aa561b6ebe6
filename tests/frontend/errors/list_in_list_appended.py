import chadllvm as cl


def f(gs: list[list[cl.f64[:]]], x: cl.f64[:]):
    g = gs[0]
    g.append(x)
    return len(g)
