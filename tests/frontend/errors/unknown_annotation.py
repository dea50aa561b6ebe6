def f(x: bytes):
    return 1
