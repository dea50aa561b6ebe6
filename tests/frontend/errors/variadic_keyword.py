def f(x: float, **options):
    return x
