def f(x: float) -> float:
    numbers: list[int] = []
    numbers.append(x)
    return numbers[0]
