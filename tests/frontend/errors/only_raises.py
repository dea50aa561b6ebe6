def f(x: float):
    raise NotImplementedError("later")
