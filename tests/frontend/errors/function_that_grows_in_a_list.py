from chadllvm.frontend import i64


def f(codes: i64[:], x: float) -> float:
    stack = []
    for code in codes:
        if code == 0:
            stack.append(lambda t: t * x)
        else:
            g = stack.pop()
            h = stack.pop()
            stack.append(lambda t, g=g, h=h: g(t) + h(t))
    return stack[-1](x)
