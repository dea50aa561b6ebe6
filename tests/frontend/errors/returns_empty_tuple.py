def f(x: float):
    return ()
