"""`insert`, `remove`, `clear`, `pop(k)` and `del xs[k]` of lists."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.support.diagnostic import CompileError

X = np.array([0.5, -1.5, 2.0, 3.5, -0.25])


def popped(x: cl.f64[:], k: int) -> float:
    xs = [v for v in x]
    taken = xs.pop(k)
    return taken * 10.0 + sum(v * (i + 1) for i, v in enumerate(xs))


def deleted(x: cl.f64[:], k: int) -> float:
    xs = [v for v in x]
    del xs[k]
    return sum(v * (i + 1) for i, v in enumerate(xs)) + len(xs)


def inserted(x: cl.f64[:], k: int) -> float:
    xs = [v for v in x]
    xs.insert(k, 7.0 * x[0])
    return sum(v * (i + 1) for i, v in enumerate(xs)) + len(xs)


def removed(x: cl.f64[:], k: int) -> float:
    xs = [v for v in x] + [x[1]]
    xs.remove(x[k])
    return sum(v * (i + 1) for i, v in enumerate(xs)) + len(xs)


@pytest.mark.parametrize("optimize", [2, 0])
@pytest.mark.parametrize("form", [popped, deleted, inserted, removed])
def test_every_place(form: Callable[..., Any], optimize: int) -> None:
    compiled = cl.jit(form, options=cl.CompileOptions(optimize=optimize))
    for size in (0, 1, 2, 5):
        for k in range(-7, 8):
            try:
                expected = form(X[:size], k)
            except (IndexError, ValueError) as error:
                with pytest.raises(type(error)):
                    compiled(X[:size], k)
            else:
                assert np.isclose(compiled(X[:size], k), expected), (size, k)


def window(x: cl.f64[:]) -> float:
    seen: list[float] = []
    total = 0.0
    for v in x:
        seen.append(v * v)
        if len(seen) > 2:
            total += seen.pop(0) * v
        total += max(seen) - min(seen)
    return total


def queue(x: cl.f64[:]) -> float:
    waiting = [x, 2.0 * x, x * x]
    total = 0.0
    for k in range(len(x)):
        first = waiting.pop(0)
        total += first[k] * waiting[0][-k]
        waiting.insert(1, first * 0.5)
    return total


def pairs(x: cl.f64[:]) -> float:
    found = [(v, 2.0 * v) for v in x]
    found.insert(2, (x[0], x[1]))
    a, b = found.pop(1)
    del found[-2]
    return a * b + sum(u * v for u, v in found)


def breadth_first(x: cl.f64[:]) -> float:
    edges = [[1, 2], [3], [3, 4], [4], [0]]
    seen = [True, False, False, False, False]
    waiting, total, depth = [0], 0.0, 0
    while waiting:
        node = waiting.pop(0)
        depth += 1
        total += x[node] * depth
        for other in edges[node]:
            if not seen[other]:
                seen[other] = True
                waiting.append(other)
    return total


def batches(x: cl.f64[:]) -> float:
    batch: list[float] = []
    total = 0.0
    for v in x:
        batch.append(v)
        if len(batch) == 2:
            total += batch[0] * batch[1]
            batch.clear()
    return total + len(batch)


def sorted_again(x: cl.f64[:]) -> float:
    rows = [x, 2.0 * x[::-1], x * x]
    for k in range(3):
        rows = sorted(rows, key=lambda row: row[k])
        rows[-1] = rows[0] * 0.5 + rows[1]
    ranked = [(v, v * x) for v in x]
    for _ in range(2):
        ranked = sorted(ranked, key=lambda pair: -pair[0])[:2]
        ranked.append((ranked[0][0] * 0.5, ranked[0][1] * x))
    return float(rows[2] @ rows[1]) + float(ranked[2][1] @ ranked[1][1])


def made_by_a_function(x: cl.f64[:]) -> float:
    def both(a, b):
        return [a, b, a * b]

    rows = both(x, 2.0 * x)
    rows[0] = x * 3.0
    rows.append(x)
    return float(rows[0] @ rows[2]) + float(rows[-1] @ rows[1]) * len(rows)


@dataclass
class Bag:
    total: float
    count: float

    def insert(self, x: float, weight: float):
        self.total += x * weight
        self.count += 1


def own_method(x: cl.f64[:]) -> float:
    bag = Bag(0.0, 0.0)
    for v in x:
        bag.insert(v, 2.0)
    return bag.total * bag.count


def nested(x: cl.f64[:]) -> float:
    xs = [v for v in x]
    places = [0, 2, 1]
    total = 0.0
    while places:
        total += xs.pop(places.pop(0)) * len(xs)
    return total + sum(xs)


def in_closures(x: cl.f64[:]) -> float:
    xs = [v for v in x]

    def taken(k: int) -> float:
        return xs.pop(k)

    return taken(0) * taken(1) + sum(xs)


SLOPED = [
    *(window, queue, pairs, breadth_first, batches, own_method, nested, in_closures),
    *(sorted_again, made_by_a_function),
]


@pytest.mark.parametrize("optimize", [2, 0])
@pytest.mark.parametrize("form", SLOPED)
def test_slopes(form: Callable[..., Any], optimize: int) -> None:
    compiled = cl.jit(form, options=cl.CompileOptions(optimize=optimize))
    assert np.isclose(compiled(X), form(X))
    assert cl.check_grads(compiled, (X,)) is None  # type: ignore[func-returns-value]


def other_name(x: cl.f64[:]) -> float:
    xs = [v for v in x]
    ys = xs
    ys.insert(0, 1.0)
    return sum(xs)


def given_back(x: cl.f64[:]) -> float:
    def same(xs):
        return xs

    rows = [x, x * x]
    others = same(rows)
    others[0] = 2.0 * x
    return float(rows[0] @ rows[1])


def argument(xs: list[float]) -> float:
    xs.insert(0, 1.0)
    return sum(xs)


def real_place(x: cl.f64[:]) -> float:
    xs = [v for v in x]
    xs.insert(x[0], 1.0)
    return sum(xs)


def real_place_popped(x: cl.f64[:]) -> float:
    xs = [v for v in x]
    del xs[x[0]]
    return sum(xs)


def of_an_array(x: cl.f64[:]) -> float:
    y = x * 2.0
    y.clear()
    return sum(y)


@pytest.mark.parametrize(
    ("form", "code"),
    [
        *[
            (other_name, "CL0804"),
            (given_back, "CL0804"),
            (argument, "CL0803"),
            (real_place, "CL0504"),
        ],
        *[(real_place_popped, "CL0504"), (of_an_array, "CL0216")],
    ],
)
def test_what_is_refused(form: Callable[..., Any], code: str) -> None:
    with pytest.raises(CompileError, match=code):
        cl.jit(form)([1.0, 2.0] if form is argument else X)
