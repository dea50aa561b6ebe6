def f(x: float):
    row = [x]
    a = [row, [1.0]]
    a[0].append(1.0)
    return sum(row)
