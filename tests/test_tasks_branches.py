"""Calls in branches that follow each other, on several threads: trees with parts that
may be missing."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.lower import tasks
from tests.on_threads import check_as_without, check_same_bits

pytestmark = pytest.mark.optimised  # Bits are compared that the same code gives.


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Even short calls ask for help."""
    monkeypatch.setattr(tasks, "PATIENCE", 0)
    yield
    cl.set_num_threads(None)


@dataclass(frozen=True)
class Search:
    weight: float
    less: Search | None
    more: Search | None


@cl.jit(cache=False)
def total(tree: Search, scale: float) -> float:
    result = math.sin(tree.weight * scale)
    if tree.less is not None:
        result += total(tree.less, scale) * 0.5
    if tree.more is not None:
        result += math.tanh(total(tree.more, scale))
    return result


@cl.jit(cache=False)
def halves(x: cl.f64[:], low: int, high: int, w: float) -> float:
    """The second call needs numbers of its own, and one that the first changes."""
    middle = (low + high) // 2
    result = math.sin(w * x[middle])
    count = 0
    if middle > low:
        result += halves(x, low, middle, w) * 0.5
        count += 1
    if high - middle > 1:
        result *= math.cos(halves(x, middle + 1, high, w) + count)
    return result * w


@cl.jit(cache=False)
def quarters(x: cl.f64[:], low: int, high: int) -> float:
    """Four parts, of which some are missing, and one that is not asked for."""
    n = high - low
    if n < 4:
        return math.sin(x[low]) * n
    step = n // 4
    a, b, c, d = x[low], x[low + 1], x[low + 2], x[low + 3]
    result = 0.0
    if a > -1.0:
        result += quarters(x, low, low + step)
    if b > -1.0:
        result += math.tanh(quarters(x, low + step, low + 2 * step))
    if c <= -1.0:
        result -= 0.5
    else:
        result -= math.tanh(quarters(x, low + 2 * step, low + 3 * step))
    if d > -1.0:
        result *= quarters(x, low + 3 * step, high)
    return result


@cl.jit(cache=False)
def in_turn(x: cl.f64[:], low: int, high: int) -> float:
    """Whether there is a second call, the first one says."""
    result = math.sin(x[low])
    middle = (low + high) // 2
    if middle > low:
        result += in_turn(x, low, middle)
    if result > -0.3 and high - middle > 1:
        result -= 0.5 * in_turn(x, middle, high)
    return result


@cl.jit(cache=False)
def given_on(x: cl.f64[:], low: int, high: int, w: float) -> float:
    """The second call is given what the first has found."""
    result = math.sin(w * x[low])
    middle = (low + high) // 2
    if middle > low:
        result += given_on(x, low, middle, w)
    if high - middle > 1:
        result -= 0.5 * given_on(x, middle, high, math.cos(result))
    return result


X = np.random.default_rng(0).normal(size=700)


def search(low: int, high: int) -> Search | None:
    if low == high:
        return None
    middle = low + (high - low) // 3
    return Search(float(X[middle]), search(low, middle), search(middle + 1, high))


TREE = search(0, 700)
PROGRAMS: list[tuple[Any, tuple[Any, ...], tuple[int, ...]]] = [
    (total, (TREE, 0.7), (1,)),
    (halves, (X, 0, 700, 0.9), (0, 3)),
    (quarters, (X, 0, 700), (0,)),
    (in_turn, (X, 0, 700), (0,)),
    (given_on, (X, 0, 700, 0.9), (0, 3)),
]
IN_ORDER = (in_turn, given_on)


@pytest.mark.sweep(share=2)
@pytest.mark.parametrize(("program", "args", "wrt"), PROGRAMS)
def test_same_bits(program: Any, args: tuple[Any, ...], wrt: tuple[int, ...]) -> None:
    check_same_bits(program, args, wrt)
    assert math.isclose(program(*args), program.py_func(*args), rel_tol=1e-9)


@pytest.mark.parametrize(("program", "args", "wrt"), PROGRAMS)
def test_as_without_tasks(
    program: Any, args: tuple[Any, ...], wrt: tuple[int, ...]
) -> None:
    check_as_without("tasks", program, args, wrt)


@pytest.mark.parametrize(("program", "args", "wrt"), PROGRAMS)
def test_calls_are_together(
    program: Any, args: tuple[Any, ...], wrt: tuple[int, ...]
) -> None:
    """In the function, and in its reverse."""
    both = (program, cl.value_and_grad(program, argnums=wrt))
    found = [f.show("loops", *args).count(" beside") for f in both]
    pairs = 2 if program is quarters else 1
    assert found[0] == (0 if program in IN_ORDER else pairs)
    assert (found[1] >= 2 * pairs) == (program not in IN_ORDER)


@cl.jit(cache=False)
def checked(x: cl.f64[:], low: int, high: int, first: int, second: int) -> float:
    middle = (low + high) // 2
    if middle == first:
        raise ValueError(f"first at {first}")
    result = math.sin(x[middle])
    if middle > low:
        result += checked(x, low, middle, first, second)
    if high - middle > 1:
        result -= 0.5 * checked(x, middle + 1, high, first, second)
    if middle == second:
        raise KeyError(f"second at {second}")
    return result


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_first_error_in_order(threads: int) -> None:
    cl.set_num_threads(threads)
    good = checked(X, 0, 700, -1, -1)
    for call in (checked, cl.grad(checked)):
        assert " beside" in call.show("loops", X, 0, 700, -1, -1)
        with pytest.raises(ValueError, match="first at 600"):
            call(X, 0, 700, 600, 650)
        with pytest.raises(KeyError, match="second at 99"):
            call(X, 0, 700, 600, 99)
        with pytest.raises(KeyError, match="second at 600"):
            call(X, 0, 700, -1, 600)
    assert checked(X, 0, 700, -1, -1) == good


def test_one_sided_trees_go_deep() -> None:
    """Where a part is missing, calls follow each other as they did."""
    tree: Search | None = None
    for k in range(20_000):
        tree = Search(0.1, tree, None) if k % 2 else Search(0.1, None, tree)
    cl.set_num_threads(3)
    value, slope = cl.value_and_grad(total, argnums=1)(tree, 0.7)
    assert math.isfinite(value) and math.isfinite(slope)
