"""Sets of integers (`frontend/sets.py`): meaning, refusals and cost."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import chadllvm as cl

OUTSIDE = {2, 3, 5}


def refused(function: Callable[..., Any], *args: Any) -> str:
    with pytest.raises(cl.CompileError) as caught:
        cl.jit(function)(*args)
    return str(caught.value)


# ---- meaning -----------------------------------------------------------------------


@pytest.mark.sweep(share=3)
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("optimize", [0, 2])
def test_random_changes(seed: int, optimize: int) -> None:
    """Long sequences of all changes agree with Python's sets."""

    def changed(kinds: cl.i64[:], keys: cl.i64[:]) -> int:
        s = set()
        digest = 0
        for kind, key in zip(kinds, keys, strict=True):
            if kind == 0:
                s.discard(key)
            elif kind == 1 and key in s:
                s.remove(key)
            elif kind == 2:
                s.update([key, key + 1])
            else:
                s.add(key)
            digest = (digest * 31 + len(s) * 7 + (key + 1 in s)) % 1000003
        for v in sorted(s):
            digest = (digest * 31 + v) % 1000003
        return digest

    random = np.random.default_rng(seed)
    count = 50 if optimize == 0 else 4000
    kinds = random.integers(0, 4, count)
    scale = (1, 1 << 20, (1 << 32) + 1, -(1 << 40), 3, 1 << 55)[seed]
    keys = random.integers(0, count // 8, count) * scale
    compiled = cl.jit(changed, options=cl.CompileOptions(optimize=optimize))
    assert compiled(kinds, keys) == changed(kinds.tolist(), keys.tolist())


def test_debug_mode_hashes_any_integer() -> None:
    @cl.jit(debug=True)
    def all_there(keys: cl.i64[:]) -> bool:
        s = set(keys)
        return all(k in s for k in keys)

    limits = np.iinfo(np.int64)
    assert all_there(np.array([limits.min, limits.max, -1, 0, 1 << 32, -(1 << 32)]))


def test_the_order_is_that_of_adding() -> None:
    @cl.jit
    def order():
        s = {7, -3, 11, 0}
        s.discard(-3)
        s.add(-3)
        return list(s)

    assert order().tolist() == [7, 0, 11, -3]


def test_python_sets_cross_the_border() -> None:
    @cl.jit
    def joined(a, b: set[int], n: int):
        return a | b, {n} & OUTSIDE, n in a

    @cl.jit
    def held(s: set[int]) -> int:
        return len(s)

    assert held({7, 8}) == 2
    assert joined({1, 1 << 40}, set(), 3) == ({1, 1 << 40}, {3}, False)
    assert joined(frozenset([4]), {-1}, 4) == ({4, -1}, set(), True)
    for wrong in ([1], {1.5}, {True}):
        with pytest.raises(TypeError, match="must be a set of integers"):
            held(wrong)
    with pytest.raises(OverflowError, match="parameter s"):
        held({1 << 64})


def test_no_derivative_goes_through_a_set() -> None:
    @cl.jit
    def scaled(s: set[int], x: float):
        return x * len(s), s

    out, tangent = cl.jvp(scaled, ({1, 2}, 3.0), (None, 1.0))
    assert out == (6.0, {1, 2}) and tangent == (2.0, None)
    _, pullback = cl.vjp(scaled, {1, 2}, 3.0)
    assert pullback((1.0, None)) == (None, 2.0)
    with pytest.raises(cl.CompileError, match="set\\[int\\]"):
        cl.grad(lambda s: 1.0 * len(s))({1})


def test_an_unknown_element_is_a_key_error() -> None:
    @cl.jit
    def removed(n: int, x: float) -> float:
        s = {1, 2}
        s.remove(n)
        return x * len(s)

    assert cl.grad(removed, argnums=1)(1, 2.0) == 1.0
    for function in (removed, cl.grad(removed, argnums=1)):
        with pytest.raises(KeyError, match="3"):
            function(3, 2.0)


def changed_by_operators(n: int) -> int:
    s = set(range(n))
    s &= {1, 2, 3, 5, n}
    s -= {2}
    s ^= {3, 40}
    total = 0
    for v in sorted(s):
        total = 100 * total + v
    s.clear()
    total = 100 * total + len(s)
    s.add(n)
    return total + sum(s)


def changed_by_itself(n: int) -> int:
    a, b, c = {1, n}, {2, n}, {3, n}
    a -= a
    b &= b
    c ^= c
    return 10_000 * len(a) + 100 * sum(b) + len(c)


def test_operators_and_clear() -> None:
    for program in (changed_by_operators, changed_by_itself):
        compiled = cl.jit(program)
        for n in (0, 1, 2, 4, 9):
            assert compiled(n) == program(n)


def cleared_other(n: int) -> int:
    s = {1, n}
    t = s
    s.clear()
    return len(t)


def intersected_other(n: int) -> int:
    s = {1, n}
    t = s
    t &= {1}
    return len(s)


def test_nothing_is_popped_of_an_empty_set() -> None:
    @cl.jit
    def popped(n: int) -> int:
        s = set(range(n))
        first = s.pop()
        return first + len(s)

    assert popped(1) == 0
    with pytest.raises(KeyError, match="pop from an empty set"):
        popped(0)


# ---- other names of a set, and what else is refused --------------------------------


def other_name(n: int) -> int:
    s = {1}
    t = s
    t.add(n)
    return len(s)


def other_name_discarded(n: int) -> int:
    s = {1, n}
    t = s
    s.discard(n)
    return len(t)


def other_name_extended(n: int) -> int:
    s = {1}
    t = s
    t |= {n}
    return len(s)


def with_one_more(s: set[int], n: int) -> int:
    s.add(n)
    return len(s)


def changed_by_a_call(n: int) -> int:
    s = {1}
    return with_one_more(s, n) + len(s)


def changed_in_a_recursion(n: int) -> int:
    seen = set()

    def visited(i):
        if i in seen or i > n:
            return 0
        seen.add(i)
        return 1 + visited(2 * i) + visited(2 * i + 1)

    return visited(1)


@pytest.mark.parametrize(
    "function",
    [
        *(other_name, other_name_discarded, other_name_extended),
        *(cleared_other, intersected_other),
        changed_by_a_call,
    ],
)
def test_a_change_that_others_would_see_is_refused(function: Any) -> None:
    assert "CL0804" in refused(function, 5)


@pytest.mark.parametrize("n", [0, 1, 9])
def test_a_local_recursion_changes_a_set_around_it(n: int) -> None:
    assert cl.jit(changed_in_a_recursion)(n) == changed_in_a_recursion(n)


def test_arguments_and_constants_are_not_changed() -> None:
    assert "CL0803" in refused(with_one_more, {1}, 2)

    def outer(n: int) -> int:
        s = OUTSIDE
        s.add(n)
        return len(s)

    assert "CL0803" in refused(outer, 2)


def test_a_function_may_change_what_is_given_to_it_alone() -> None:
    def added(s, n):
        s.add(n)
        return s

    @cl.jit
    def threaded(n: int) -> int:
        s = {1}
        s = added(s, n)
        return len(added(s, n + 1))

    assert threaded(5) == 3


def test_elements_are_integers() -> None:
    assert "CL1901" in refused(lambda x: len({x}), 1.5)
    assert "CL1901" in refused(lambda x: x in {1, 2}, 1.5)


def test_a_set_that_is_run_over_does_not_change() -> None:
    def grows(n: int) -> int:
        s = {n}
        for i in s:
            if i < 5:
                s.add(i + 1)
        return len(s)

    assert "CL1906" in refused(grows, 1)


def test_sets_are_not_indexed_nor_in_lists() -> None:
    def indexed(n: int) -> int:
        s = {n}
        return s[0]

    def joined(n: int) -> int:
        s = {n}
        s += {2}
        return len(s)

    assert "CL0505" in refused(indexed, 1)
    assert "CL1905" in refused(joined, 1)
    assert "CL1907" in refused(lambda n: len([{n}, {1, 2}][0]), 1)
    assert "CL1904" in refused(lambda n: len({n}.difference_update({1})), 1)


def test_c_has_no_sets(tmp_path: Any) -> None:
    @cl.jit
    def held(s: set[int], n: int) -> bool:
        return n in s

    with pytest.raises(ValueError, match="C has no sets"):
        cl.export({"held": held}, tmp_path / "held")


# ---- cost --------------------------------------------------------------------------


@cl.jit
def added_and_found(keys: cl.i64[:], x: float) -> float:
    s = set()
    total = x
    for k in keys:
        s.add(k)
        total = 1.0001 * total
    for k in keys:
        if k in s and 3 * k + 1 not in s:
            total += math.sin(total)
    for k in keys:
        s.discard(k)
    return total + len(s)


@pytest.mark.sweep(share=2)
@pytest.mark.parametrize("scale", [1, 1 << 20, 1 << 32, -(1 << 45)])
def test_work_is_linear(scale: int) -> None:
    """Adding, finding and discarding take a few steps each, in the gradient as well."""
    works = []
    for size in (1000, 2000, 4000, 8000):
        report = added_and_found.report(np.arange(size) * scale, 0.5)
        works.append([found.work / size for found in report.scaling])
    for k in (0, 1):
        low, high = min(w[k] for w in works), max(w[k] for w in works)
        assert high < 1.3 * low
        assert high < 1500


@cl.jit
def changed_forever(steps: int, x: float) -> float:
    s = set()
    for i in range(steps):
        s.add(i)
        s.discard(i - 10)
        x = 1.0001 * x
    return x * len(s)


def test_removed_slots_are_used_again() -> None:
    works = [changed_forever.report(n, 0.5).scaling[0].work / n for n in (2000, 16000)]
    assert works[1] < 1.3 * works[0]
    assert changed_forever(1000, 1.0) == pytest.approx(1.0001**1000 * 10)


def test_a_walk_keeps_no_set_for_its_reverse() -> None:
    """What the reverse keeps of a step does not grow with the set."""

    @cl.jit
    def walked(n: int, x: float) -> float:
        seen = set()
        i, total = 1, x
        while i not in seen:
            seen.add(i)
            i = (i * 5 + 1) % n
            total = total + math.sin(total * i) / n
        return total

    slope = cl.value_and_grad(walked, argnums="x")
    works = []
    for n in (1024, 8192):  # A full period each.
        works.append([s.work / n for s in slope.report(n, 0.5).scaling])
    for small, large in zip(*works, strict=True):
        assert large < 1.3 * small
    cl.check_grads(walked, (64, 0.5))
