def f(x: float):
    return (y := x) + y
