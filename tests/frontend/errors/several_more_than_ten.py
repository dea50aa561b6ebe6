def f(x: float) -> float:
    a = x + a1
    b = x + a2
    c = x + a3
    d = x + a4
    e = x + a5
    g = x + a6
    h = x + a7
    i = x + a8
    j = x + a9
    k = x + a10
    m = x + a11
    n = x + a12
    return a + b + c + d + e + g + h + i + j + k + m + n
