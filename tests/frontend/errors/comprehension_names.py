from chadllvm.frontend import f64


def f(x: f64[:]) -> float:
    y = 2.0
    a = sum(v * y for v in x for y in [y, 1.0])
    b = sum(v for v in x if w > 0.0 for w in x)
    c = sum(v for v in x if x for w in x)
    d = [u for u in x if (t := u * u) > 0.0]
    e = len({v for v in x if v > 0.0})
    g = min([v, w] for v in x for w in x)
    h = any((v, w) for v in x if v for w in x)
    return a + b + c + sum(d) + e + g + h
