"""`break`, `continue`, early `return`, `else` on loops, `raise`, `assert`."""

from __future__ import annotations

import math

import numpy as np

import chadllvm as cl
from programs.case import case

X = np.array([0.7, -1.3, 0.4, 2.1, -0.6, 1.7, 0.9])


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
