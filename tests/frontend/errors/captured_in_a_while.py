def f(x: float) -> float:
    g = lambda t: t * x
    while x < 10.0:
        x = sum(map(g, [x])) + 1.0
    return x
