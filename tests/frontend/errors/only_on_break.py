def f(x: float, n: int) -> float:
    for k in range(n):
        if k > x:
            found = x * k
            break
    return found
