def f(n: int) -> bool:
    def even(k):
        return k == 0 or odd(k - step)

    step = 1

    def odd(k):
        return k != 0 and even(k - step)

    return even(n)
