def f(x: float, n: int) -> float:
    g = (lambda t: t * x) if n > 0 else (lambda t: t + n)
    total = 0.0
    for value in g:
        total += value
    return total
