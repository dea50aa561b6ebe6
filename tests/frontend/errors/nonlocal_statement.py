def f(x: float):
    count = 0.0

    def step(t):
        nonlocal count
        count = count + 1.0
        return t

    return sum(map(step, [x]))
