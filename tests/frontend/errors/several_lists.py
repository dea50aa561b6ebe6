def f(x: float) -> float:
    xs = []
    ys = []
    for i in range(3):
        xs.append(x + offset)
        ys.append(i)
    ys.append(x > 0.0)
    return sum(xs) + sum(ys) + scale
