import scipy.optimize


def f(x: float):
    return scipy.optimize.brentq(x)
