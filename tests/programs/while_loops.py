"""`while`: loops that stop by themselves."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

import chadllvm as cl
from programs.case import case

X = np.array([0.7, -1.3, 0.4, 2.1, -0.6, 1.7, 0.9])


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


@case(X, 3)
@case(X, 7)
@cl.jit
def defined_by_steps(x: cl.f64[:], n: int) -> float:
    """What each step defines, in all kinds of loops, is there behind them."""
    for _ in range(2):
        y = x * n
    total = np.sum(y)
    for i in range(n):
        pair = (x[i] * y[i], i * 2)
        if pair[0] < -50.0:
            break
        total += pair[0]
    total += pair[0] * pair[1] + i
    fuel = n
    while fuel > 0:
        items = [x[fuel - 1], total]
        items.append(x[0])
        fuel -= 2
    items.append(0.5)
    for k, v in enumerate(x[:n]):
        for j in range(k + 1):
            last = v * j
        total += last * len(items)
    return total + sum(items) + k + v


@case(X, 4)
@cl.jit
def stack_read_first(x: cl.f64[:], n: int) -> float:
    """What an empty list holds is found out though elements are read before."""
    stack, total = [], 0.0
    for i in range(n):
        while stack and stack[-1][1] > x[i]:
            j, v = stack.pop()
            total += v * (i - j)
        stack.append((i, x[i]))
    rows: list[cl.f64[:]] = []
    for i in range(n):
        total += np.sum(rows[-1]) * x[i] if rows else x[i] ** 2
        rows.append(x * i)
    return total + stack[0][1]
