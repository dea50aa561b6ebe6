def f(x: float, modes: list[str]):
    return x if modes[0] == "a" else 2 * x
