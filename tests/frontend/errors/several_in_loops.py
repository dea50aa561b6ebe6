def f(x: float) -> float:
    total = 0
    for i in range(10):
        total = total + x * i
        y = total[i]
        for j in range(y):
            total += y * j
        total = total + wrong
    count = 0
    for k in range(2.5):
        count = count + k.size
        count += other
    return total + count
