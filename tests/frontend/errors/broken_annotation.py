def f(x: "float64"):
    return x
