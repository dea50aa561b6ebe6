def f(x: float):
    velocity = 2.0 * x
    return velocty + x
