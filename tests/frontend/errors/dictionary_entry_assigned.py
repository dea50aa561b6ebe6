def f(n: int):
    d = {"a": 1.0}
    d["b"] = 2.0
    return d["a"]
