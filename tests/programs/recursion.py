"""Functions that call themselves, and each other."""

import math
from collections.abc import Callable

import chadllvm as cl
from programs.case import case

# ---- numbers ----------------------------------------------------------------------


@case(1.3, 6)
@case(1.3, 0)
@cl.jit
def factorial(x: float, n: int) -> float:
    return x if n < 1 else (n + x) * factorial(x, n - 1)


@case(1.1, 0.7, 7)
@cl.jit
def fibonacci(a: float, b: float, n: int) -> float:
    if n == 0:
        return a
    if n == 1:
        return b
    return fibonacci(a, b, n - 1) + x_squared(fibonacci(a, b, n - 2)) * 0.1


@cl.jit
def x_squared(x):
    return x * x


@case(84, 36)
@cl.jit
def greatest_divisor(a: int, b: int) -> int:
    return a if b == 0 else greatest_divisor(b, a % b)


@cl.jit
def ackermann(m: int, n: int) -> int:
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


@case(0.5)
@cl.jit
def ackermann_times(x: float) -> float:
    return x * ackermann(2, 3)


@case(1.2, 13)
@case(1.2, -3)
@cl.jit
def power_by_squaring(x: float, n: int) -> float:
    if n < 0:
        return 1.0 / power_by_squaring(x, -n)
    if n == 0:
        return 1.0
    half = power_by_squaring(x, n // 2)
    return half * half if n % 2 == 0 else half * half * x


@case(5)
@cl.jit
def hanoi_moves(n):
    return 0 if n == 0 else 2 * hanoi_moves(n - 1) + 1


@case(0.9, 7)
@case(0.9, 8)
@cl.jit
def even_steps(x: float, n: int) -> float:
    """Without annotation of the other: its result is found out."""
    return x if n == 0 else math.sin(odd_steps(x, n - 1))


@cl.jit
def odd_steps(x, n):
    if n == 0:
        return x * x
    return 1.5 * even_steps(x + 0.1, n - 1)


@case(0.3, 9)
@cl.jit
def three_in_turn(x: float, n: int) -> float:
    return x if n <= 0 else second_of_three(x * 1.1, n - 1)


@cl.jit
def second_of_three(x, n):
    return third_of_three(x + 0.2, n - 1) * x if n > 0 else x * x


@cl.jit
def third_of_three(x, n):
    return three_in_turn(math.cos(x), n - 1) + second_of_three(x, n - 3)


@case(0.7, 8)
@cl.jit
def continued_fraction(x: float, k: int) -> float:
    return 1.0 if k == 0 else k + x / continued_fraction(x, k - 1)


@case(1.2, 5)
@cl.jit
def catalan(x: float, n: int) -> float:
    if n == 0:
        return 1.0
    total = 0.0
    for k in range(n):
        total += x * catalan(x, k) * catalan(x, n - 1 - k)
    return total


@case(0.8, 0.3, 6)
@cl.jit
def means(a: float, b: float, n: int) -> float:
    """Gauss's arithmetic-geometric mean."""
    return a if n == 0 else means((a + b) / 2.0, math.sqrt(a * b), n - 1)


@case(0.4, 11)
@cl.jit
def collatz(x: float, n: int) -> float:
    if n == 1:
        return x
    if n % 2 == 0:
        return collatz(x * 0.99, n // 2)
    return collatz(x + 0.01, 3 * n + 1)


@case(0.6, 5)
@cl.jit
def legendre(x: float, n: int) -> float:
    if n == 0:
        return 1.0
    if n == 1:
        return x
    return ((2 * n - 1) * x * legendre(x, n - 1) - (n - 1) * legendre(x, n - 2)) / n


@case(0.4, 5, 2)
@cl.jit
def b_spline(x: float, i: int, degree: int) -> float:
    """De Boor's recursion on the knots 0, 0.1, 0.2, …"""
    if degree == 0:
        return 1.0 if 0.1 * i <= x + 0.15 < 0.1 * (i + 1) else 0.0
    left = (x + 0.15 - 0.1 * i) / (0.1 * degree)
    right = (0.1 * (i + degree + 1) - x - 0.15) / (0.1 * degree)
    return left * b_spline(x, i, degree - 1) + right * b_spline(x, i + 1, degree - 1)


@case(2.5)
@case(0.0)
@cl.jit
def never_called_again(x: float) -> float:
    return x * x if x < 10.0 else never_called_again(x)


# ---- loops and recursion ----------------------------------------------------------


@case(0.9, 4)
@cl.jit
def loop_in_recursion(x: float, n: int) -> float:
    if n == 0:
        return x
    s = 1.0
    for k in range(n):
        s = s * x + k
    return s + loop_in_recursion(x * 0.5, n - 1)


@case(0.9, 4)
@cl.jit
def recursion_in_loop(x: float, n: int) -> float:
    total = 0.0
    for k in range(n):
        total += factorial(x, k) * power_by_squaring(total + x, k)
    return total


@case(1.7, 3)
@cl.jit
def while_in_recursion(x: float, n: int) -> float:
    y = x
    while y < 10.0:
        y = y * (1.5 + 0.1 * n)
    return y if n == 0 else y + while_in_recursion(x * 1.1, n - 1)


@case(1.7, 4)
@cl.jit
def recursion_in_while(x: float, n: int) -> float:
    y = 0.0
    while n > 0 and y < 100.0:
        y += power_by_squaring(x, n)
        n -= 1
    return y


@case(0.7, 9)
@cl.jit
def returns_early(x: float, n: int) -> float:
    for k in range(n):
        if k * x > 2.0:
            return x + returns_early(x * 0.5, k)
    return x * n


# ---- functions --------------------------------------------------------------------


@cl.jit
def simpson(
    f: Callable[[float], float],
    a: float,
    b: float,
    ends: tuple[float, float, float],
    whole: float,
    depth: int,
) -> float:
    fa, fm, fb = ends
    m = 0.5 * (a + b)
    f1, f2 = f(0.5 * (a + m)), f(0.5 * (m + b))
    left = (m - a) / 6.0 * (fa + 4.0 * f1 + fm)
    right = (b - m) / 6.0 * (fm + 4.0 * f2 + fb)
    delta = left + right - whole
    if depth == 0 or abs(delta) < 1e-6:
        return left + right + delta / 15.0
    first = simpson(f, a, m, (fa, f1, fm), left, depth - 1)
    return first + simpson(f, m, b, (fm, f2, fb), right, depth - 1)


@case(1.4, 0.8)
@cl.jit
def adaptive_integral(x: float, width: float) -> float:
    def f(t):
        return math.exp(-t * x) * math.sin(t / width)

    ends = f(0.0), f(1.0), f(2.0)
    return simpson(f, 0.0, 2.0, ends, (ends[0] + 4.0 * ends[1] + ends[2]) / 3.0, 6)


@cl.jit
def repeated(f: Callable[[float], float], x: float, n: int) -> float:
    return x if n == 0 else repeated(f, f(x), n - 1)


@case(0.3, 4)
@cl.jit
def repeated_twice(x: float, n: int) -> float:
    return repeated(math.sin, x, n) * repeated(lambda t: t * t + x, x, n)


@case(1.3, 5)
@cl.jit
def local_recursion(x: float, n: int) -> float:
    y = x * x

    def go(k, c=0.5):
        return y + c if k == 0 else x * go(k - 1) + math.sin(go(k - 2 if k > 1 else 0))

    return go(n) + go(2, y)


@case(1.3, 6)
@case(1.3, 7)
@cl.jit
def local_mutual_recursion(x: float, n: int) -> float:
    shift = 0.25 * x

    def rising(k):
        return x if k <= 0 else falling(k - 1) * (1.0 + shift)

    def falling(k):
        return x * x if k <= 0 else rising(k - 1) - math.exp(-shift * k)

    return rising(n) + falling(n)


@case(0.8, 6)
@cl.jit
def fixed_point_of_a_function(x: float, n: int) -> float:
    def fix(f, k):
        return f(lambda j: fix(f, j), k)

    return fix(lambda self, k: x if k < 2 else self(k - 1) + x * self(k - 2), n)


@case(0.7, 3)
@cl.jit
def local_functions_of_each_call(x: float, n: int) -> float:
    def scaled(t):
        return t * x + n

    if n == 0:
        return scaled(1.0)
    return scaled(local_functions_of_each_call(x * 0.9, n - 1))


@case(0.7, 3)
@cl.jit
def newton_inside(x: float, n: int) -> float:
    """The slope of another function is taken at each depth."""
    if n == 0:
        return x
    slope = cl.grad(lambda t: math.exp(t) - 2.0 * t - x)(x)
    return newton_inside(x - 0.1 * slope, n - 1)


@cl.jit(static_argnames="n")
def static_power(x, n):
    return 1.0 if n == 0 else x * static_power(x, n - 1)


@cl.jit(static_argnames="n")
def slope_of_slope(x: float, n) -> float:
    return x**5 if n == 0 else cl.grad(slope_of_slope)(x, n - 1)


@case(1.2)
@cl.jit
def static_depths(x: float) -> float:
    return static_power(x, 7) + slope_of_slope(x, 2)
