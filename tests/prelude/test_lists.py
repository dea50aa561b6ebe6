"""Python's functions of sequences: what they give, and their slopes, are Python's."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import chadllvm as cl

V = np.array([0.5, -1.25, 2.0, 0.75, -0.625])
W = np.array([1.5, 1.0, -2.0])


def mixed(s: float, x: float) -> float:
    return 0.5 * s * x + 1.0


def largest_pair(v: cl.f64[:]) -> float:
    place, value = max(enumerate(v), key=lambda pair: pair[1])
    return place * value


def grown(v: cl.f64[:]) -> float:
    values = sorted(v)
    values.append(v[0])
    others = v.tolist()
    others.pop()
    return values[-1] * values[0] + sum(others) * len(others)


def left_early(v: cl.f64[:]) -> float:
    total = 0.0
    for x, y in itertools.product(v, v):
        if x + y < -2.0:
            break
        total += x * y
    return total


def in_loops(v: cl.f64[:]) -> float:
    total, points = 0.0, [(x, x * x) for x in v]
    for i, j in itertools.combinations(range(len(v)), 2):
        total += (j - i) * v[i] * v[j]
    for (x, y), (z, w) in itertools.combinations(points, 2):
        if x > z:
            break
        total += x * w - y * z
    for x, y in itertools.pairwise(v):
        total += x * y
    for k, (x, y) in enumerate(itertools.combinations(v, 2)):
        total += k * x * y
    return total


def changed_in_loops(v: cl.f64[:]) -> float:
    """What is run over has been copied."""
    w, total, count = 1.0 * v, 0.0, 3
    for x, y in itertools.product(w, w):
        w[0] += 1.0
        total += x * y
    for i, j in itertools.product(range(count), range(count)):
        count = 1
        total += v[i] * v[j] * count
    for x, y in itertools.combinations(w, 2):
        w = w * 2.0
        total += x * y
    return total


def read_after(v: cl.f64[:]) -> float:
    """Names are bound where there is a pair, and steps may bind them again."""
    x, y, total = 5.0, 7.0, 0.0
    none, one = v[:0], v[:1]
    for x, y in itertools.product(v, none):
        total += x * y
    for x, y in itertools.combinations(one, 2):
        total += x * y
    total += x * v[0] + y * v[1]
    for x, y in itertools.product(v, v):
        x = 2.0 * x
        total += x * y
    for i, j in itertools.combinations(range(3), 2):
        i += 1
        total += v[i] * j
    for x, y in itertools.combinations(v, 2):
        for z, w in itertools.product(one, v):
            total += x * y * z * w
        y = 0.0
    return total + x


def passed_over(v: cl.f64[:]) -> float:
    total = 0.0
    for i, j in itertools.product(range(len(v)), range(3)):
        if i == j:
            continue
        total += v[i] * v[j] * (i + 1)
    return total


def unzipped(v: cl.f64[:], w: cl.f64[:]) -> float:
    points = [(x, 2.0 * y) for x, y in zip(v, w, strict=False)]
    xs, ys = zip(*points)  # noqa: B905
    return sum(xs) * ys[1]


Function = Callable[..., float]
CASES: list[tuple[Function, tuple[Any, ...]]] = [
    (lambda v: max(v, key=abs) + min([v[0], v[1]], key=lambda x: -x), (V,)),
    (lambda v: v[min(range(len(v)), key=lambda k: v[k])] ** 2, (V,)),
    (lambda v: max((x for x in v if x > 9.0), default=v[0]), (V,)),
    (lambda v: min((x for x in v if x > 0.0), default=-1.0), (V,)),
    (lambda v: max(v[0], v[1], v[2], key=lambda x: x * x), (V,)),
    (lambda v: functools.reduce(mixed, v, 0.5), (V,)),
    (lambda v: functools.reduce(operator.mul, v), (V,)),
    (lambda v: functools.reduce(operator.add, range(4), v[0]), (V,)),
    (lambda v: sum(map(lambda x, y, z: x * y + z, v, v[1:], range(9))), (V,)),
    (lambda v: sum(map(lambda k: v[k] ** 2, range(3))), (V,)),
    (lambda v: sum(filter(lambda x: x > 0.0, (2.0 * x for x in v))), (V,)),
    (lambda v, w: sum(itertools.starmap(mixed, zip(v, w, strict=False))), (V, W)),
    (lambda v, w: sum(x * y for x, y in itertools.product(v, w)), (V, W)),
    (
        lambda v: sum(x * y + z for x, y, z in itertools.product(v, [1.0, 2.0], v)),
        (V,),
    ),
    (lambda v: sum(p[0] * p[1] for p in itertools.product(v, (1, 2))), (V,)),
    (lambda v: sum(x * y for x, y in itertools.combinations(v, 2)), (V,)),
    (lambda v: sum(x * y * z for x, y, z in itertools.combinations(v, 3)), (V,)),
    (lambda v: sum((y - x) ** 2 for x, y in itertools.pairwise(v)), (V,)),
    (lambda v, w: sum(x**2 for x in itertools.chain(v, w, [v[0]])), (V, W)),
    (lambda v: sum(itertools.islice(v, 2)) * sum(itertools.islice(v, 1, 9, 2)), (V,)),
    (lambda v: sum(x * y for x, y in zip(v, itertools.repeat(2.0, 3))), (V,)),  # noqa: B905
    (lambda v: sum(k * x for k, x in enumerate(sorted(x * x for x in v))), (V,)),
    (
        lambda v: sum(
            k * x
            for k, (j, x) in enumerate(sorted((k % 2, x) for k, x in enumerate(v)))
        ),
        (V,),
    ),
    (
        lambda v: sum(
            k * x
            for k, x in enumerate(sorted(v, key=lambda x: (x > 0.0, -x), reverse=True))
        ),
        (V,),
    ),
    (lambda v: operator.pow(v[2], 3) + operator.neg(v[0]) * operator.lt(v[1], 0), (V,)),
    (lambda v: sum(v[i] * j for i, j in itertools.combinations(range(1, 4), 2)), (V,)),
    (in_loops, (V,)),
    (changed_in_loops, (V,)),
    (read_after, (V,)),
    (largest_pair, (V,)),
    (grown, (V,)),
    (left_early, (V,)),
    (passed_over, (V,)),
    (unzipped, (V, W)),
]


@pytest.mark.parametrize(("function", "args"), CASES)
def test_as_in_python(function: Function, args: tuple[Any, ...]) -> None:
    compiled = cl.jit(function)
    assert compiled(*args) == pytest.approx(function(*args), rel=1e-12)
    cl.check_grads(compiled, args)


@pytest.mark.parametrize(
    ("left", "right"),
    [((1, 2), (1, 3)), ((1, 2), (1, 2)), ((2,), (1, 5)), ((1,), (1, 0)), ((), (1,))],
)
def test_tuples_are_compared(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    def found(p, q):  # type: ignore[no-untyped-def]
        return p < q, p <= q, p > q, p >= q, p == q, p != q

    assert cl.jit(found)(left, right) == found(left, right)


def test_nans_in_tuples() -> None:
    def found(x: float) -> tuple[bool, bool]:
        return (x, 1.0) < (x, 2.0), (0.0, x) < (1.0, x)

    assert cl.jit(found)(float("nan")) == (False, True)


@pytest.mark.parametrize("size", range(9))
def test_tuples_are_sorted_stably(size: int) -> None:
    def order(v: cl.f64[:]) -> cl.f64[:]:
        keys = [(x, x * 0.0) for x in v]
        places = sorted(range(len(v)), key=lambda k: keys[k])
        return np.array([1.0 * k for k in places])

    v = np.random.default_rng(size).integers(0, 3, size).astype(float)
    assert cl.jit(order)(v).tolist() == order(v).tolist()


@pytest.mark.parametrize(
    "function",
    [
        lambda v: max(v[:0], key=abs),
        lambda v: min((x for x in v if x > 9.0), key=abs),
        lambda v: functools.reduce(operator.mul, v[:0]),
    ],
)
def test_nothing_has_no_best(function: Function) -> None:
    with pytest.raises((ValueError, TypeError)) as ours:
        cl.jit(function)(V)
    with pytest.raises(type(ours.value)):
        function([])


def test_combinations_of_many_are_refused() -> None:
    with pytest.raises(cl.CompileError, match="combinations of 2 or 3"):
        cl.jit(lambda v: len(list(itertools.combinations(v, 4))))(V)
