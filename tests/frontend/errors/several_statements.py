def f(x: float) -> float:
    y = sine(x)
    z = x + "1"
    if x > 0.0:
        w = x[0]
    else:
        w = unknown
    del y
    return w + z + y
