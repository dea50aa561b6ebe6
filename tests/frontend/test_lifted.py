"""Local functions that are only called see what variables around them are then."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import chadllvm as cl

V = np.array([0.3, 0.7, 1.1, 0.4, 0.9])

Program = Callable[[np.ndarray], float]


def assigned_behind(v: cl.f64[:]) -> float:
    scale = 1.0
    scaled = lambda t: t * scale  # noqa: E731
    total = 0.0
    for x in v:
        total += scaled(x)
        scale *= 1.5
    return total


def updated_behind(v: cl.f64[:]) -> float:
    parent = np.arange(len(v))

    def root(i):
        while parent[i] != i:
            i = parent[i]
        return i

    total = 0.0
    for k in range(1, len(v)):
        parent[k] = root(k // 2)
        total += v[root(k)] * k
    return total


def updates(v: cl.f64[:]) -> float:
    out = np.zeros(len(v))

    def put(i, x=2.0):
        out[i] += x

    for i in range(len(v)):
        put(i, v[i] ** 2)
        put(x=v[0], i=i)
    put(1)
    return np.sum(out * v)


def updates_with_a_result(v: cl.f64[:]) -> float:
    out, count = np.zeros(len(v)), np.zeros(1)

    def put(i):
        out[i] = v[i] * (1.0 + count[0])
        count[0] += 1.0
        return out[i] * 2.0

    total = put(0)
    total += put(2) * total
    return total + np.sum(out) * count[0]


def remembers(v: cl.f64[:]) -> float:
    memo = np.full(len(v) + 1, -1.0)

    def fib(k):
        if k < 2:
            return v[k]
        if memo[k] < 0.0:
            memo[k] = fib(k - 1) + fib(k - 2) * v[k]
        return memo[k]

    return fib(len(v) - 1) + memo[2]


def visits(v: cl.f64[:]) -> float:
    visited, order = np.zeros(len(v), dtype=bool), np.zeros(len(v))

    def visit(i, depth):
        visited[i] = True
        order[i] = depth * v[i]
        for j in (2 * i + 1, 2 * i + 2):
            if j < len(v) and not visited[j]:
                visit(j, depth + 1)

    visit(0, 1)
    return np.sum(order)


def calls_another(v: cl.f64[:]) -> float:
    rate = 0.5

    def inner(t):
        return rate * t

    def outer(t):
        return inner(t) + rate

    total = outer(v[0])
    rate = v[1]
    return total * outer(v[2])


def defined_before(v: cl.f64[:]) -> float:
    def slope(t, y):
        calls[0] += 1.0
        return -y * v[0] + t

    calls, y = np.zeros(1), 1.0
    for k in range(4):
        y += 0.1 * slope(0.1 * k, y)
    return y + calls[0]


def in_each_step(v: cl.f64[:]) -> float:
    total = 0.0
    for i in range(len(v)):
        add = lambda t: t * v[i] + total  # noqa: B023, E731
        total = add(2.0)
        total = add(1.0)
    return total


def of_its_own(v: cl.f64[:]) -> float:
    """A name of the function's own is another variable."""
    t = v[0]

    def square(x):
        t = x * x
        return t + 1.0

    y = square(v[1])
    t = 3.0
    return y * t + square(t)


def in_a_comprehension(v: cl.f64[:]) -> float:
    scale = 1.0

    def scaled(t):
        return t * scale

    scale = v[1]
    return sum(scaled(t) for t in v) + max([scaled(v[k]) for k in range(3)])


def passed_on(v: cl.f64[:]) -> float:
    """A function that is a value as well, of variables that do not change."""
    scale = v[0]
    scaled = lambda t: t * scale  # noqa: E731
    return sum(map(scaled, v)) + scaled(2.0)


def outer_numbers(v: cl.f64[:]) -> float:
    total, count = 0, 0

    def add(t):
        nonlocal total, count
        total += t
        count += 1
        return total

    result = 0.0
    for x in v:
        result += add(x * x) * 2.0
        result -= add(x)
        add(1.0)
    return result * count + total


def outer_in_recursion(v: cl.f64[:]) -> float:
    count = 0

    def walk(k):
        nonlocal count
        count += 1
        if k < 2:
            return v[k]
        return walk(k - 1) * v[0] + walk(k - 2)

    return walk(4) * count + count


def outer_in_a_choice(v: cl.f64[:]) -> float:
    count = 0

    def walk(k):
        nonlocal count
        count += 1
        return v[k] if k < 2 else walk(k - 1) * v[0] + walk(k - 2)

    total = walk(4) if v[0] > 0.0 else 1.0
    total += walk(3) * 2.0 if v[1] < 0.0 else v[2]
    return total * count


def outer_without_result(v: cl.f64[:]) -> float:
    total, deepest = 0, 0

    def walk(k, depth):
        nonlocal total, deepest
        deepest = max(deepest, depth)
        if k < len(v):
            total += v[k] * depth
            walk(2 * k + 1, depth + 1)
            walk(2 * k + 2, depth + 1)

    walk(0, 1)
    return total * deepest


def outer_array(v: cl.f64[:]) -> float:
    part, last = v * 1.0, None

    def halve():
        nonlocal part, last
        last = part[0] if last is None else last * 2.0
        part = part[: len(part) // 2 + 1] * 2.0

    halve()
    halve()
    return np.sum(part) * len(part) + (0.0 if last is None else last)


def outer_by_another(v: cl.f64[:]) -> float:
    count, rate = 0, v[0]

    def inner(t):
        nonlocal count
        count += 1
        return t * count * rate

    def outer(t):
        return inner(t) + inner(2.0 * t)

    total = outer(v[1])
    rate = 0.5
    return total * outer(v[2]) + count


def exchanged(v: cl.f64[:]) -> float:
    a, b = v[0], v[1]

    def swap():
        nonlocal a, b
        a, b = b, a

    for _ in range(3):
        swap()
        a *= 2.0
    return a - b


def grown(v: cl.f64[:]) -> float:
    visited, seen = np.zeros(len(v), dtype=bool), {0}
    order: list[int] = []

    def visit(i):
        visited[i] = True
        order.append(i)
        seen.add(i % 2)
        for j in (2 * i + 1, 2 * i + 2):
            if j < len(v) and not visited[j]:
                visit(j)

    visit(0)
    return sum(v[i] * k for k, i in enumerate(order)) * len(seen)


def shortened(v: cl.f64[:]) -> float:
    items = [x for x in v]

    def take():
        last = items.pop()
        return last * len(items)

    return take() + take() * 2.0 + sum(items)


def nested(v: cl.f64[:]) -> float:
    def outer(y):
        total = 0.0

        def inner(z):
            nonlocal total
            total += z * y

        inner(v[0])
        inner(v[1])
        return total

    return outer(v[2]) + outer(v[3])


def objects(v: cl.f64[:]) -> float:
    state, table = {"x": v[0], "n": 1.0}, np.zeros((2, 2))

    def step(x, i):
        nonlocal state
        state["x"] += x
        state = {"x": state["x"] * 0.5, "n": state["n"] + 1.0}
        table[i % 2] += state["x"]

    for i, x in enumerate(v):
        step(x, i)
    return state["x"] * state["n"] + np.sum(table[0] * table[1])


def by_a_lambda(v: cl.f64[:]) -> float:
    rate, items = 1.0, [x for x in v]
    scaled = lambda t: t * rate + items[-1]  # noqa: E731
    shifted = lambda t: scaled(t) + len(items)  # noqa: E731
    total = shifted(v[0])
    rate = 3.0
    del items[-1]
    return total + shifted(v[1]) + scaled(2.0)


def by_each_other(v: cl.f64[:]) -> float:
    total = 0.0

    def even(k):
        nonlocal total
        total += v[k]
        return True if k == 0 else odd(k - 1)

    def odd(k):
        nonlocal total
        total *= 2.0
        return False if k == 0 else even(k - 1)

    result = even(4)
    return total + result


def in_loops(v: cl.f64[:]) -> float:
    total = 0.0
    for k in range(3):

        def add(x):
            nonlocal total
            total += x * k  # noqa: B023

        add(v[k])
        add(1.0)
    return total


def annotated(v: cl.f64[:]) -> float:
    out, count = np.zeros(3), 0

    def put(i: int, x: float) -> None:
        nonlocal count
        out[i] = x
        count += 1

    put(0, v[0])
    put(i=2, x=v[1])
    return np.sum(out) * count


ALL = [
    by_a_lambda,
    by_each_other,
    in_loops,
    annotated,
    grown,
    shortened,
    nested,
    objects,
    outer_numbers,
    outer_in_recursion,
    outer_in_a_choice,
    outer_without_result,
    outer_array,
    outer_by_another,
    exchanged,
    assigned_behind,
    updated_behind,
    updates,
    updates_with_a_result,
    remembers,
    visits,
    calls_another,
    defined_before,
    in_each_step,
    of_its_own,
    in_a_comprehension,
    passed_on,
]


@pytest.mark.parametrize("program", ALL, ids=lambda f: f.__name__)
def test_means_what_python_means(program: Program) -> None:
    compiled = cl.jit(program)
    assert compiled(V) == pytest.approx(program(V), rel=1e-14)
    cl.check_grads(compiled, (V,))


def shadowed(v: cl.f64[:]) -> float:
    scale = 1.0
    scaled = lambda t: t * scale  # noqa: E731
    scale = 2.0
    return sum(scaled(1.0) for scale in v)


def passed(v: cl.f64[:]) -> float:
    scale = 1.0
    scaled = lambda t: t * scale  # noqa: E731
    scale = 2.0
    return sum(map(scaled, v))


def in_another_value(v: cl.f64[:]) -> float:
    scale = 1.0
    scaled = lambda t: t * scale  # noqa: E731
    twice = lambda t: scaled(scaled(t))  # noqa: E731
    scale = 2.0
    return sum(map(twice, v))


@pytest.mark.parametrize("program", [shadowed, passed, in_another_value])
def test_what_is_not_only_called_is_refused(program: Program) -> None:
    with pytest.raises(cl.CompileError, match="CL1103"):
        cl.jit(program)(V)


def passed_with_outer(v: cl.f64[:]) -> float:
    total = 0.0

    def add(t):
        nonlocal total
        total += t
        return total

    return sum(map(add, v))


def test_nonlocal_of_what_is_passed_is_refused() -> None:
    with pytest.raises(cl.CompileError, match="CL0211"):
        cl.jit(passed_with_outer)(V)


def read_before(v: cl.f64[:]) -> float:
    total = 0.0

    def add(t):
        nonlocal total
        total += t
        return total

    return total + add(v[0])


def read_by_another_before(v: cl.f64[:]) -> float:
    total = 0.0

    def add(t):
        nonlocal total
        total += t
        return total

    def twice(t):
        return t * total

    return twice(2.0) + add(v[0])


def added_to(v: cl.f64[:]) -> float:
    total = 1.0

    def add(t):
        nonlocal total
        total += t
        return total

    total += add(v[0])
    return total


def in_a_test(v: cl.f64[:]) -> float:
    count = 0

    def more():
        nonlocal count
        count += 1
        return count < 5

    while more():
        pass
    return v[count - 1]


@pytest.mark.parametrize(
    "program", [read_before, read_by_another_before, added_to, in_a_test]
)
def test_what_is_read_before_it_is_assigned_is_refused(program: Program) -> None:
    with pytest.raises(cl.CompileError, match="CL0822"):
        cl.jit(program)(V)


def of_the_same_name(v: cl.f64[:]) -> float:
    count = 1.0

    def more():
        nonlocal count
        count += v[0]

    def other():
        count = 5.0
        more()
        return count

    return other() * 10.0 + count


def two_functions_around(v: cl.f64[:]) -> float:
    total = 0.0

    def outer(x):
        def inner(y):
            nonlocal total
            total += y

        inner(x)
        return total

    return outer(v[0]) + total


@pytest.mark.parametrize("program", [of_the_same_name, two_functions_around])
def test_variables_that_cannot_be_given(program: Program) -> None:
    with pytest.raises(cl.CompileError):
        cl.jit(program)(V)
