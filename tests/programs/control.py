"""`while`, `break`, `continue`, early `return`, `else` on loops, `raise`, `assert`."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

import chadllvm as cl
from programs.case import case

X = np.array([0.7, -1.3, 0.4, 2.1, -0.6, 1.7, 0.9])
M = np.array([[2.6, -0.2, 0.4], [-0.2, 1.7, -0.3], [0.4, -0.3, 3.3]])


# ---- while -----------------------------------------------------------------------


@case(2.0)
@case(1e-3)
@cl.jit
def newton_root(a: float) -> float:
    x = a
    while abs(x * x - a) > 1e-12:
        x = 0.5 * (x + a / x)
    return x


@case(1.3, 27)
@case(1.3, 1)
@cl.jit
def collatz_weights(x: float, n: int) -> float:
    """The steps are weighted by what happens in them."""
    total = 0.0
    weight = 1.0
    while n != 1:
        if n % 2 == 0:
            n //= 2
            total += weight * x
        else:
            n = 3 * n + 1
            total -= weight / x
        weight *= 0.9
    return total


@case(1.1, 0.4)
@case(2.6, 0.7)
@cl.jit
def kept_steps(mean: float, e: float) -> float:
    """What each step computes is what its reverse and its tangents need."""
    x = mean
    step = 1.0
    steps = 0
    while abs(step) > 1e-12 and steps < 20:
        step = (x - e * math.sin(x) - mean) / (1.0 - e * math.cos(x))
        x -= step
        steps += 1
    return math.cos(x) + e * x


@case(0.7, 60)
@cl.jit
def longer_rows(x: float, n: int) -> float:
    """Many rows of different lengths are kept, by a loop that stops."""
    total, k = 0.0, 1
    while k < n:
        row = [math.sin(x * j) for j in range(k)]
        total = 0.5 * total + sum(row[j] * row[k - 1 - j] * row[j] for j in range(k))
        k += 1
    return total


@case(np.array([0.4, -0.2, 1.3]), 9)
@case(np.array([0.4, -0.2, 1.3]), 0)
@cl.jit
def forced_swing(p: cl.f64[:], n: int) -> float:
    """Functions of the state of each step, some of them in one of two branches."""
    x, v, push = p
    for i in range(n):
        pull = math.sin(x) * math.exp(-0.1 * x * x)
        if v > 0.2:
            pull += push * math.cos(x)
        else:
            pull -= math.tanh(v) * math.cos(0.3 * i)
        v -= 0.2 * pull
        x += 0.2 * v
    return x * v + math.sin(x)


@case(np.array([1.2, 0.7, 2.4]), 1.5)
@cl.jit
def decaying_paths(x: cl.f64[:], rate: float) -> float:
    """Loops of different lengths, read again by other loops, forwards and backwards."""
    total = 0.0
    for start in x:
        path = []
        level = start
        while level > 0.3:
            path.append(level)
            level *= math.exp(-rate * 0.2 * level)
        weight = 1.0
        for k in range(len(path)):
            last = path[len(path) - 1 - k]
            weight *= math.exp(-rate * 0.2 * last)
            total += weight * math.exp(-rate * 0.2 * path[k])
    return total


@case(0.3, 48, 36)
@cl.jit
def scaled_gcd(x: float, a: int, b: int) -> float:
    while b:
        a, b = b, a % b
    return a * math.sin(x) + b


@case(0.4)
@case(-3.0)
@cl.jit
def not_a_step(x: float) -> float:
    """The test fails at once for one of them."""
    y = x * x
    while x > 0:
        y += x
        x -= 0.15
    return y * x


@cl.jit
def cubic(x: float, a: float) -> float:
    return x * x * x + x - a


@case(3.0, 0.0, 5.0)
@cl.jit
def bisection(a: float, low: float, high: float) -> float:
    """Its gradient by the target is zero but for where the middle is."""
    while high - low > 1e-3:
        middle = 0.5 * (low + high)
        if cubic(middle, a) > 0:
            high = middle
        else:
            low = middle
    return 0.5 * (low + high) * a


@case(2.0, 1.5)
@cl.jit
def nested_while(x: float, y: float) -> float:
    total = 0.0
    while x > 0.3:
        z = y
        while z > 0.2:
            z *= 0.5 * x / (1.0 + x)
            total += z * x
        x *= 0.7
    return total


@case(X)
@cl.jit
def while_over_an_array(x: cl.f64[:]) -> float:
    k = 0
    total = 0.0
    while k < len(x) and total < 3.0:
        total += x[k] * x[k]
        k += 1
    return total * k


@case(X)
@cl.jit
def updates_in_a_while(x: cl.f64[:]) -> float:
    a = x.copy()
    k = 0
    while k < 20:
        j = k % len(a)
        a[j] = 0.5 * a[j] + a[j - 1] * a[j]
        k += 1
    return np.sum(a * x)


@case(0.8, 2.9)
@cl.jit
def appends_in_a_while(x: float, limit: float) -> float:
    """The path of a walk, of a length that is not known in front of it."""
    xs = [x]
    while sum(xs) < limit:
        xs.append(xs[-1] * 0.9 + 0.1 * x)
    return sum(v * v for v in xs) / len(xs)


@case(2.5)
@cl.jit
def while_and_a_stack(x: float) -> float:
    """Halves of a number, taken apart until they are small."""
    stack = [x]
    total = 0.0
    while len(stack) > 0:
        y = stack.pop()
        if y > 0.5:
            stack.append(0.4 * y)
            stack.append(0.6 * y * y / (1.0 + y))
        else:
            total += math.exp(y)
    return total


@case(0.3, 3)
@cl.jit
def integer_becomes_float(x: float, n: int) -> float:
    y = 1
    while n > 0:
        y = y * x + 1
        n -= 1
    return y


@case(1.0, 0.1)
@cl.jit
def states_of_a_pair(x: float, v: float) -> float:
    pair = (x, v)
    time = 0.0
    while time < 1.0:
        pair = (pair[0] + 0.1 * pair[1], pair[1] - 0.1 * math.sin(pair[0]))
        time += 0.1
    return pair[0] * pair[1]


@dataclass(frozen=True)
class Body:
    x: float
    v: float


@case(1.2)
@cl.jit
def falls_to_the_ground(x: float) -> float:
    body = Body(x, 0.0)
    steps = 0
    while body.x > 0:
        body = Body(body.x + 0.05 * body.v, body.v - 0.05 * 9.81)
        steps += 1
    return body.v * body.x + steps


# ---- break and continue ----------------------------------------------------------


@case(0.5)
@case(-0.2)
@cl.jit
def while_true(x: float) -> float:
    """What is read after the loop has a value, for it ends at the break."""
    while True:
        y = x * x + 0.1
        if y > 2:
            last = y * x
            break
        x = y + x
    return last + y


@case(X, 0.6)
@case(X, 100.0)
@cl.jit
def break_a_for(x: cl.f64[:], limit: float) -> float:
    total = 0.0
    for k in range(len(x)):
        if total > limit:
            break
        total += x[k] * x[k]
    return total


@case(X)
@cl.jit
def continue_a_for(x: cl.f64[:]) -> float:
    total = 0.0
    for v in x:
        if v < 0:
            continue
        total += v * v
        if v < 0.6:
            continue
        total *= 1.1
    return total


@case(X)
@cl.jit
def continue_a_while(x: cl.f64[:]) -> float:
    k = -1
    total = 1.0
    while k < len(x) - 1:
        k += 1
        if x[k] < 0:
            total *= 1.0 - x[k]
            continue
        if x[k] > 2:
            total -= x[k]
        elif x[k] > 1.5:
            continue
        total += x[k]
    return total


@case(X, 0.5)
@cl.jit
def nested_breaks(x: cl.f64[:], limit: float) -> float:
    total = 0.0
    for i in range(len(x)):
        row = 0.0
        for j in range(i, len(x)):
            if x[j] < 0:
                continue
            row += x[i] * x[j]
            if row > limit:
                break
        else:
            row *= 2.0
        if total > 3:
            break
        total += row
    return total


@case(X, 1.0)
@case(X, 5.0)
@cl.jit
def for_else(x: cl.f64[:], limit: float) -> float:
    for v in x:
        if v > limit:
            found = v * v
            break
    else:
        found = np.sum(x * x)
    return found


@case(0.3)
@case(1.7)
@cl.jit
def while_else(x: float) -> float:
    y = x
    k = 0
    while k < 5:
        y = y * x + 0.2
        if y > 3:
            break
        k += 1
    else:
        y = -y
    return y * k


@case(X)
@cl.jit
def zipped_with_break(x: cl.f64[:]) -> float:
    total = 0.0
    for k, (a, b) in enumerate(zip(x, reversed(x), strict=False)):
        if k == 4:
            break
        if a < b:
            continue
        total += a * b * k
    return total


@case(X)
@cl.jit
def several_go_on(x: cl.f64[:]) -> float:
    """Some paths through the branch are left, and several go on."""
    total = 0.0
    for v in x:
        if v > 1:
            if v > 2:
                break
            w = v * v
        else:
            if v < -1:
                continue
            w = math.exp(v)
        total += w
    return total


@case(X, 0.05)
@cl.jit
def array_left_by_break(x: cl.f64[:], eps: float) -> float:
    """The array after the loop is the one before the last step, or after it."""
    a = x * 1.0
    while True:
        b = 0.5 * a * a / (1.0 + a * a)
        if np.sum(b * b) < eps:
            break
        a = b
    return np.sum(a * x) + np.sum(b)


# ---- early return ----------------------------------------------------------------


@case(0.4)
@case(1.4)
@case(2.4)
@case(3.4)
@cl.jit
def returns_in_branches(x: float) -> float:
    if x > 1:
        if x > 3:
            return x * x
        y = math.sin(x)
    else:
        y = x
    if y > 0.9:
        return y + x
    z = y * x
    if z < 0.5:
        z = z + 1
    else:
        if x > 2:
            return -z
        z = z * 2
    return z * x


@case(X, 1.5)
@case(X, 9.0)
@cl.jit
def linear_search(x: cl.f64[:], limit: float) -> float:
    total = 0.0
    for k in range(len(x)):
        if x[k] > limit:
            return x[k] * total + k
        total += x[k]
    return -total


@case(X, 1.0)
@case(X, 100.0)
@cl.jit
def return_from_two_loops(x: cl.f64[:], limit: float) -> float:
    total = 0.0
    for i in range(len(x)):
        for j in range(i):
            total += x[i] * x[j]
            if total > limit:
                return total * x[j]
            if total < -limit:
                return total + x[i]
        total *= 0.9
    return total


@case(X, 0.4)
@cl.jit
def all_exits(x: cl.f64[:], y: float) -> float:
    total = 0.0
    for v in x:
        k = 0
        while True:
            total += y * v
            k += 1
            if k > 7:
                break
            if total > 6:
                return total * v
            if total < 0:
                total = -total
                continue
            if k % 3 == 0:
                break
            total += 0.1 * v * v
        if total > 4:
            total -= y
    return total + y


@cl.jit
def steps_to(x: float, limit: float) -> float:
    n = 0.0
    while x < limit:
        x = x * x
        n += 1.0
        if n > 20:
            return 100.0 * x
    return n + x


@case(np.array([1.2, 1.5, 3.0]), 50.0)
@cl.jit
def while_in_a_comprehension(x: cl.f64[:], limit: float) -> float:
    counts = [steps_to(v, limit) for v in x]
    return np.sum(np.array(counts) * x)


@case(np.array([1.2, 1.5, 3.0]), 50.0)
@cl.jit
def while_in_a_sum(x: cl.f64[:], limit: float) -> float:
    return sum(steps_to(v, limit) * v for v in x)


@case(X)
@cl.jit
def returned_array(x: cl.f64[:]) -> float:
    a = first_small(x * x)
    return np.sum(a * x)


@cl.jit
def first_small(a: cl.f64[:]) -> cl.f64[:]:
    for _ in range(10):
        a = a * 0.5
        if np.sum(a) < 1:
            return a * 2.0
    return a


@case(X)
@cl.jit
def updates_until_return(x: cl.f64[:]) -> float:
    a = x.copy()
    for k in range(len(a)):
        a[k] = a[k] * a[k - 1]
        if a[k] < -2:
            return np.sum(a) * 3.0
        if k == 5:
            return np.sum(a * a)
    return 0.0


# ---- raise and assert ------------------------------------------------------------


@case(0.7)
@cl.jit
def checked(x: float) -> float:
    assert x == x, "not a number"
    if x < 0:
        raise ValueError(f"negative: {x}")
    elif x > 1:
        raise ArithmeticError
    else:
        y = math.sqrt(x)
    return y * x


@case(X, 0.8)
@cl.jit
def search_or_raise(x: cl.f64[:], limit: float) -> float:
    for k in range(len(x)):
        if x[k] > limit:
            place = k
            value = x[k] * x[k]
            break
    else:
        raise ValueError("nothing is above the limit")
    return value * place * limit


@case(0.6)
@cl.jit
def ends_in_raise(x: float) -> float:
    y = x
    for _ in range(50):
        y = math.cos(y * x)
        if abs(y - math.cos(y * x)) < 1e-10:
            return y
    raise RuntimeError("no convergence")


@case(X)
@cl.jit
def raise_in_a_loop(x: cl.f64[:]) -> float:
    """The array is updated in place though a path raises."""
    a = x.copy()
    for k in range(len(a)):
        if a[k] > 100:
            raise OverflowError(f"a[{k}] = {a[k]:.3f}")
        a[k] *= a[k]
    return np.sum(a * x)


# ---- methods ---------------------------------------------------------------------


@case(0.5, 1.5)
@cl.jit
def adaptive_steps(rate: float, end: float) -> float:
    """Heun's method; a step is rejected if its error is too large."""
    t, y, h = 0.0, 1.0, 0.7
    steps = 0
    while t < end:
        steps += 1
        if steps > 1000:
            raise RuntimeError("too many steps")
        h = min(h, end - t)
        slope = -rate * y + math.sin(t)
        ahead = y + h * slope
        other = -rate * ahead + math.sin(t + h)
        error = abs(0.5 * h * (other - slope))
        if error > 1e-2:
            h = 0.5 * h
            continue
        t += h
        y += 0.5 * h * (slope + other)
        if error < 1e-3:
            h = 2.0 * h
    return y


@case(0.7, 2.2)
@cl.jit
def lentz_fraction(a: float, x: float) -> float:
    """A continued fraction of the incomplete gamma function, by Lentz' method."""
    tiny = 1e-300
    b = x + 1.0 - a
    c = 1.0 / tiny
    d = 1.0 / b
    h = d
    i = 1
    while True:
        an = -i * (i - a)
        b += 2.0
        d = an * d + b
        if abs(d) < tiny:
            d = tiny
        c = b + an / c
        if abs(c) < tiny:
            c = tiny
        d = 1.0 / d
        delta = d * c
        h *= delta
        if abs(delta - 1.0) < 1e-13:
            break
        i += 1
        assert i < 500, "the fraction does not converge"
    return math.exp(-x + a * math.log(x)) * h


@case(M)
@cl.jit
def power_iteration(m: cl.f64[:, :]) -> float:
    v = np.ones(len(m))
    value = 0.0
    while True:
        w = m @ v
        size = math.sqrt(np.sum(w * w))
        v = w / size
        if abs(size - value) < 1e-11:
            return size
        value = size


@case(1.3)
@cl.jit
def golden_section(a: float) -> float:
    ratio = 0.6180339887498949
    low, high = 0.0, 4.0
    c = high - ratio * (high - low)
    d = low + ratio * (high - low)
    while high - low > 0.01:
        if (c - a) ** 2 < (d - a) ** 2:
            high = d
        else:
            low = c
        c = high - ratio * (high - low)
        d = low + ratio * (high - low)
    return (low + high) * a


@case(np.array([1.5, -0.5]))
@cl.jit
def backtracking(start: cl.f64[:]) -> float:
    """Descent with steps that are halved until they help."""
    x = start.copy()
    value = np.sum(x**4) + x[0] * x[1]
    for _ in range(6):
        slope = 4.0 * x**3 + x[::-1]
        step = 1.0
        while True:
            y = x - step * slope
            new = np.sum(y**4) + y[0] * y[1]
            if new < value - 0.3 * step * np.sum(slope * slope):
                break
            step *= 0.5
            if step < 1e-8:
                return value
        x, value = y, new
    return value


@case(np.array([0.3, 0.5, 0.1, 0.9, 0.6, 0.2, 0.7, 0.3]), 1.4)
@cl.jit
def rejection(u: cl.f64[:], scale: float) -> float:
    """Numbers are drawn from a list until enough are accepted."""
    total = 0.0
    accepted = 0
    k = 0
    while accepted < 3:
        if k + 1 >= len(u):
            raise IndexError("out of random numbers")
        x, y = u[k] * scale, u[k + 1]
        k += 2
        if y > math.exp(-x):
            continue
        accepted += 1
        total += x * x
    return total / accepted


@case(np.array([0.2, 0.5, 0.9, 1.6]), 0.8)
@cl.jit
def events(times: cl.f64[:], rate: float) -> float:
    """A tank that leaks, and is filled at given times."""
    t, level, k = 0.0, 1.0, 0
    while t < 2.0:
        ahead = 2.0
        if k < len(times):
            ahead = times[k]
        level *= math.exp(-rate * (ahead - t))
        t = ahead
        if k < len(times):
            level += 0.5 * rate
            k += 1
    return level


@case(0.7)
@cl.jit
def series(x: float) -> float:
    """exp(x) until a term adds nothing."""
    total, term, k = 1.0, 1.0, 1
    while True:
        term = term * x / k
        before = total
        total = total + term
        if total == before:
            return total
        k += 1


@case(0.9, 0.3)
@cl.jit
def kepler(m: float, e: float) -> float:
    x = m
    for _ in range(100):
        step = (x - e * math.sin(x) - m) / (1.0 - e * math.cos(x))
        x -= step
        if abs(step) < 1e-14:
            break
    else:
        raise ArithmeticError("no convergence")
    return x


# ---- updates on some ways ---------------------------------------------------------


@case(X)
@cl.jit
def updates_behind_continue(x: cl.f64[:]) -> float:
    """The array is one and the same on the way that leaves it as it was."""
    a = x.copy()
    kept = []
    i = 0
    while i < len(a):
        a[i] *= 1.5
        if a[i] > 2.0:
            i += 2
            continue
        a[0] += a[i]
        for k in range(i):
            if a[k] > a[i]:
                break
            kept.append(a[k] * a[i])
        i += 1
    return np.sum(a * a) + sum(kept)
