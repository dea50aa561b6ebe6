"""Functions that call themselves, with tuples, records and arrays."""

import math
from typing import NamedTuple

import numpy as np

import chadllvm as cl
from programs.case import case

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


@cl.jit
def turned(
    x: cl.f64[:], y: cl.f64[:], m: cl.f64[:, :], n: int
) -> tuple[cl.f64[:], cl.f64[:], cl.f64[:]]:
    """What a call inside returns becomes other results; rows are among them."""
    if n == 0:
        return y, x, m[1]
    a, b, c = turned(x, y, m, n - 1)
    return (b, b, a) if n == 1 else (c, a, b)


@case(np.array([0.7, -0.4]), np.array([1.1, 0.3]), np.array([[0.2, 0.9], [0.6, -0.8]]))
@cl.jit
def turned_results(x: cl.f64[:], y: cl.f64[:], m: cl.f64[:, :]) -> float:
    total = 0.0
    for n in range(5):
        a, b, c = turned(x, y, m, n)
        total += a[0] * 1.5 + b[1] * a[1] + c[n % 2] * (n + 1)
    return total


@cl.jit
def turned_or_made(
    x: cl.f64[:], y: cl.f64[:], n: int
) -> tuple[cl.f64[:], cl.f64[:], float]:
    if n == 0:
        return x * 0.9, y, x[1]
    a, b, s = turned_or_made(y, x, n - 1)
    if n == 2:
        return b, a * x, s * a[0]
    return b, b, s + b[1]


@case(np.array([0.7, -0.4]), np.array([1.1, 0.3]))
@cl.jit
def turned_or_made_results(x: cl.f64[:], y: cl.f64[:]) -> float:
    total = 0.0
    for n in range(5):
        a, b, s = turned_or_made(x, y, n)
        total += a[0] * s + b[1] * a[1]
    return total
