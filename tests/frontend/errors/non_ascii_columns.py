def f(ä: float):
    größe = ä * 2.0
    return größe + "é" * ä + größte
