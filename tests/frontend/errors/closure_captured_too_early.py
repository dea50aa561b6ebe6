def f(x: float) -> float:
    def scaled(t: float) -> float:
        return t * scale

    scale = 2.0
    return scaled(x)
