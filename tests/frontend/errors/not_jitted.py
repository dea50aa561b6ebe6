from textwrap import dedent


def f(x: float):
    return dedent(x)
