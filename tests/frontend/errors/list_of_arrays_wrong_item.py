import chadllvm as cl


def f(xs: list[cl.f64[:]], m: cl.f64[:, :]):
    ys = [x * 1.0 for x in xs]
    ys.append(m)
    ys[0] = 1.0
    ys.extend(m[0])
    return ys
