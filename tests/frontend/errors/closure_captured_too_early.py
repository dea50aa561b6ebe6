def f(x: float) -> float:
    def scaled(t: float) -> float:
        return t * scale

    both = scaled, scaled
    scale = 2.0
    return both[0](x)
