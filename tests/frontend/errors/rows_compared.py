# What is known of a list is known of its rows.


def f(x: float):
    rows = [[x, 1.0], [2.0, x]]
    if rows[0] == rows[1]:
        return x
    return 2.0 * x
