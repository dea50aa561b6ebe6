def f(x: float):
    ä, ö = x, x
    return ä + ö + (ü + ä)
