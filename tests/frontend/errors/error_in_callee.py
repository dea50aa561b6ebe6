from jitted import Jitted


@Jitted
def h(a):
    return a[0]


@Jitted
def g(a):
    return h(a + 1.0)


def f(x: float):
    return g(x)
