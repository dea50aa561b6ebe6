def f(p: tuple[float, float, float], k: int):
    return p[:k]
