class Model:
    pass


def f(m: Model):
    return m.w
