"""Functions that call themselves, and each other."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

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


# ---- tuples, records, arrays ------------------------------------------------------


@case(1.1, 6)
@cl.jit
def pairs(x: float, n: int) -> float:
    a, b = fibonacci_pair(x, n)
    return a * b


@cl.jit
def fibonacci_pair(x, n):
    if n == 0:
        return 0.0, x
    a, b = fibonacci_pair(x, n - 1)
    return b, a + b * x


class State(NamedTuple):
    position: float
    speed: float
    steps: int


@cl.jit
def moved(state: State, h: float, n: int) -> State:
    if n == 0:
        return state
    speed = state.speed - h * math.sin(state.position)
    return moved(State(state.position + h * speed, speed, state.steps + 1), h, n - 1)


@case(0.7, 0.1, 8)
@cl.jit
def pendulum(start: float, h: float, n: int) -> float:
    end = moved(State(start, 0.0, 0), h, n)
    return end.position * end.steps + end.speed**2


@case(np.array([0.5, -1.0, 2.0, 0.25, 1.5, -0.75, 3.0]))
@cl.jit
def halved_sum(x: cl.f64[:]) -> float:
    return range_sum(x, 0, len(x))


@cl.jit
def range_sum(x, low, high):
    if high - low == 1:
        return x[low] * x[low]
    middle = (low + high) // 2
    return range_sum(x, low, middle) + math.sin(range_sum(x, middle, high))


@case(np.array([0.5, -1.0, 2.0, 0.25, 1.5]))
@cl.jit
def sliced_sum(x: cl.f64[:]) -> float:
    if len(x) == 1:
        return x[0]
    half = len(x) // 2
    return sliced_sum(x[:half]) * 1.5 + sliced_sum(x[half:]) ** 2


@case(np.array([0.5, -1.0, 2.0, 0.25]), 0.8)
@cl.jit
def horner(c: cl.f64[:], x: float) -> float:
    def from_term(k):
        return c[k] if k == len(c) - 1 else c[k] + x * from_term(k + 1)

    return from_term(0)


@cl.jit
def clenshaw(c, x, k):
    """The last two partial sums of a Chebyshev series, from the end."""
    if k == len(c):
        return 0.0, 0.0
    b1, b2 = clenshaw(c, x, k + 1)
    return c[k] + 2.0 * x * b1 - b2, b1


@case(np.array([0.5, -1.0, 2.0, 0.25, 0.1]), 0.3)
@cl.jit
def chebyshev(c: cl.f64[:], x: float) -> float:
    b1, b2 = clenshaw(c, x, 1)
    return c[0] + x * b1 - b2


@case(np.array([0.1, 0.4, 0.9, 1.6, 2.5, 3.6]), 1.1)
@case(np.array([0.1, 0.4, 0.9, 1.6, 2.5, 3.6]), 3.5)
@cl.jit
def interpolated(grid: cl.f64[:], x: float) -> float:
    """By binary search."""

    def place(low, high):
        if high - low == 1:
            return low
        middle = (low + high) // 2
        return place(middle, high) if grid[middle] <= x else place(low, middle)

    k = place(0, len(grid) - 1)
    return k + (x - grid[k]) / (grid[k + 1] - grid[k])


@cl.jit
def selected(x: cl.f64[:], k: int) -> float:
    """The element that is the k-th in order."""
    pivot = x[len(x) // 2]
    smaller = x[x < pivot]
    larger = x[x > pivot]
    if k < len(smaller):
        return selected(smaller, k)
    if k >= len(x) - len(larger):
        return selected(larger, k - len(x) + len(larger))
    return pivot


@case(np.array([0.5, -1.0, 2.0, 0.25, 1.5, -0.75, 3.0]))
@cl.jit
def median_squared(x: cl.f64[:]) -> float:
    return selected(x, len(x) // 2) ** 2 + selected(x, 1)


@cl.jit
def merge_sorted(x: cl.f64[:]) -> cl.f64[:]:
    if len(x) < 2:
        return x.copy()
    half = len(x) // 2
    a, b = merge_sorted(x[:half]), merge_sorted(x[half:])
    out = np.zeros(len(x))
    i, j = 0, 0
    for k in range(len(x)):
        if j == len(b) or (i < len(a) and a[i] <= b[j]):
            out[k] = a[i]
            i += 1
        else:
            out[k] = b[j]
            j += 1
    return out


@case(np.array([0.5, -1.0, 2.0, 0.25, 1.5, -0.75]))
@cl.jit
def sorted_weights(x: cl.f64[:]) -> float:
    return np.sum(merge_sorted(x) * np.arange(len(x)))


@case(
    np.array([0.5, 1.5, -1.0, 2.0, 0.25]),
    np.array([1, 3, -1, -1, -1]),
    np.array([2, 4, -1, -1, -1]),
)
@cl.jit
def tree_walk(value: cl.f64[:], left: cl.i64[:], right: cl.i64[:]) -> float:
    """A tree by the numbers of children."""

    def below(k):
        if k < 0:
            return 1.0
        return math.sin(value[k] * below(left[k])) + value[k] * below(right[k])

    return below(0)


@cl.jit
def fft_real(x: cl.f64[:], k: int, start: int, step: int) -> tuple[float, float]:
    """The k-th coefficient of every step-th element, by halves."""
    n = len(x) // step
    if n == 1:
        return x[start], 0.0
    a, b = fft_real(x, k, start, 2 * step)
    c, d = fft_real(x, k, start + step, 2 * step)
    angle = -2.0 * math.pi * k / n
    u, v = math.cos(angle), math.sin(angle)
    return a + u * c - v * d, b + u * d + v * c


@case(np.array([0.5, 1.5, -1.0, 2.0, 0.25, -0.5, 1.0, 0.0]))
@cl.jit
def spectrum(x: cl.f64[:]) -> float:
    total = 0.0
    for k in range(len(x)):
        a, b = fft_real(x, k, 0, 1)
        total += (a * a + b * b) * (k + 1)
    return total


@case(np.array([[0.5, 1.5, -1.0], [2.0, 0.25, -0.5], [1.0, 0.1, 0.7]]))
@cl.jit
def permanent(a: cl.f64[:, :]) -> float:
    """A sum over permutations; the columns that are used are the bits of a number."""

    def below(row, used):
        if row == len(a):
            return 1.0
        total = 0.0
        for k in range(len(a)):
            if used >> k & 1 == 0:
                total += a[row, k] * below(row + 1, used | 1 << k)
        return total

    return below(0, 0)


@case(5)
@cl.jit
def queens(n: int) -> int:
    def below(row: int, columns: int, left: int, right: int) -> int:
        if row == n:
            return 1
        count = 0
        for k in range(n):
            place = 1 << k
            if (columns | left | right) & place == 0:
                count += below(
                    row + 1, columns | place, (left | place) << 1, (right | place) >> 1
                )
        return count

    return below(0, 0, 0, 0)


@case(np.array([1.5, 0.5, 2.0, 1.0]), 3.2)
@cl.jit
def smooth_knapsack(worth: cl.f64[:], room: float) -> float:
    """Every choice is looked at: nothing is remembered."""

    def best(k: int, left: float) -> float:
        if k == len(worth):
            return 0.1 * left
        without = best(k + 1, left)
        if left < worth[k]:
            return without
        return max(without, worth[k] ** 2 + best(k + 1, left - worth[k]))

    return best(0, room)


@case(0.4, 1.9, 4)
@cl.jit
def romberg(a: float, b: float, n: int) -> float:
    def f(t):
        return math.exp(-t) * t

    def table(k, m):
        if m > 0:
            better, worse = table(k, m - 1), table(k - 1, m - 1)
            return better + (better - worse) / (4.0**m - 1.0)
        if k == 0:
            return (b - a) * (f(a) + f(b)) / 2.0
        h = (b - a) / 2.0**k
        inner = sum(f(a + (2 * i + 1) * h) for i in range(2 ** (k - 1)))
        return table(k - 1, 0) / 2.0 + h * inner

    return table(n, n)


@cl.jit
def array_of_each_depth(x: cl.f64[:], n: int) -> cl.f64[:]:
    if n == 0:
        return x * x
    return np.sin(array_of_each_depth(x * 0.9, n - 1)) + x


@case(np.array([0.5, -1.0, 2.0]), 3)
@cl.jit
def returned_arrays(x: cl.f64[:], n: int) -> float:
    return np.sum(array_of_each_depth(x, n) * x)


@case(np.array([0.5, -1.0, 2.0, 0.3]))
@cl.jit
def prefix_products(x: cl.f64[:]) -> float:
    """What a loop needs of each prefix is computed by recursion."""

    def product(k):
        return 1.0 if k == 0 else x[k - 1] * product(k - 1)

    return sum(product(k + 1) * x[k] for k in range(len(x)))


@case(1.1, 3)
@cl.jit
def unused_branch_of_recursion(x: float, n: int) -> float:
    """What fails is not reached."""
    if n < 0:
        return math.log(x - 5.0)
    return x if n == 0 else x + unused_branch_of_recursion(x * x, n - 1)


# ---- arrays that are updated behind the calls that were given them ------------------


@cl.jit
def product_below(x: cl.f64[:], n: int) -> float:
    if n == 0:
        return x[0] * x[1]
    y = x.copy()
    t = product_below(y, n - 1)
    y[1] = t * x[2]
    return y[1] + y[0]


@cl.jit
def waves_below(x: cl.f64[:], n: int) -> float:
    """All of an array is kept for the reverse, not an element or two."""
    if n == 0:
        return np.sum(np.sin(x) * x)
    y = x * 0.9
    t = waves_below(y, n - 1)
    y[1] = t
    return np.sum(np.cos(y))


@case(np.array([0.7, -0.4, 1.1]), 3)
@cl.jit
def updated_behind_the_call(x: cl.f64[:], n: int) -> float:
    y = x.copy()
    t = product_below(y, n) + waves_below(y, n)
    y[0] = t * t
    u = product_below(y, n)
    y[1] = u
    return np.sum(y)


@case(np.array([0.7, -0.4, 1.1]), 2)
@cl.jit
def updated_in_a_loop_of_calls(x: cl.f64[:], n: int) -> float:
    if n == 0:
        return np.sum(np.sin(x) * x)
    y = x.copy()
    s = 0.0
    for k in range(3):
        s += updated_in_a_loop_of_calls(y, n - 1)
        y[k % 2] += math.sin(s)
    return np.sum(y) + s


@cl.jit
def number_of_a_group(x: cl.f64[:], n: int) -> float:
    """Of functions that call each other one returns an array."""
    return x[0] * x[1] if n == 0 else np.sum(array_of_a_group(x, n - 1))


@cl.jit
def array_of_a_group(x, n) -> cl.f64[:]:
    return x * x if n == 0 else np.sin(x) * number_of_a_group(x * 0.9, n - 1)


@case(np.array([0.7, -0.4, 1.1]), 5)
@case(np.array([0.7, -0.4, 1.1]), 4)
@cl.jit
def number_and_array(x: cl.f64[:], n: int) -> float:
    return number_of_a_group(x, n) + array_of_a_group(x, n)[1]


@case(1.3, 4)
@cl.jit
def named_as_registers(at: float, block: int) -> float:
    """The names of parameters are nothing to the compiler."""
    status = 0.5 * at
    return status if block == 0 else at * named_as_registers(status, block - 1)
