def f(x: float) -> float:
    entry = {"x": x}
    entries = [entry]
    entry["x"] = 1.0
    return entries[0]["x"]
