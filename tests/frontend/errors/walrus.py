def f(x: float):
    return (y := x) + y if x > 0.0 else 1.0
