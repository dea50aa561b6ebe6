import chadllvm as cl


def f(xs: list[cl.f64[:]], gs: list[list[cl.f64[:]]]):
    ys = [x * 1.0 for x in xs]
    ys[1:] = xs
    hs = [[x * 1.0 for x in g] for g in gs]
    hs[0] = ys
    return ys, hs
