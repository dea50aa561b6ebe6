def f(x: float, digits: int):
    print(f"{x:.{digits}f}")
    return x
