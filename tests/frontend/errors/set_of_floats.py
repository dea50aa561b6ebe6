def f(x: float) -> int:
    return len({x, 1.0})
