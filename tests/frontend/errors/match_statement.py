def f(x: float):
    match x:
        case 1.0:
            return 2.0
    return x
