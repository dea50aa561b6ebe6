"""Forms of Python's own: `sorted`, methods of dictionaries, `with np.errstate`."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np
import pytest

import chadllvm as cl

X = np.array([1.5, -2.0, 0.5, 1.5, 3.0])


class Point(NamedTuple):
    x: float
    y: float


def same(function: Any, *args: Any) -> None:
    assert cl.jit(function)(*args) == pytest.approx(function(*args))


def test_sorted_makes_lists() -> None:
    same(lambda x: sum(sorted(x)[:2]) + sorted(x, reverse=True)[0], X)
    same(lambda x: len(sorted(x) + [v for v in x]) + len(sorted([3, 1, 2])), X)
    same(lambda x: sorted(x, key=lambda v: -abs(v))[0], X)
    same(lambda n: sorted([n, 3, 1], key=abs, reverse=True)[0], -7)
    same(lambda n: len(sorted([k for k in range(n)])), 0)


def test_sorted_keeps_the_order_of_equals() -> None:
    def order(x: cl.f64[:], reverse: bool) -> float:
        points = [Point(v, float(k)) for k, v in enumerate(x)]
        ordered = sorted(points, key=lambda p: p.x, reverse=reverse)
        return sum(10.0**k * p.y for k, p in enumerate(ordered))

    for reverse in (False, True):
        same(order, X, reverse)


def test_the_slope_goes_to_the_element() -> None:
    slope = cl.grad(lambda x: sorted(x)[0] * 2.0 + sorted(x, reverse=True)[0])(X)
    assert slope.tolist() == [0.0, 2.0, 0.0, 0.0, 1.0]


def test_values_and_get() -> None:
    def f(x: float) -> float:
        params = {"w": x, "b": 2.0}
        total = sum(params.values()) + max(params.values())
        return total + params.get("w", 0.0) + params.get("c", 3.0) * x

    same(f, 1.5)
    assert cl.grad(f)(1.5) == 5.0
    assert cl.grad(f)(2.5) == 6.0


def test_silence_is_no_statement() -> None:
    def f(x: cl.f64[:]) -> float:
        total = 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            for v in np.log(x):
                if np.isnan(v):
                    return total
                total += v
        return total

    for x in (np.array([2.0, 3.0]), np.array([2.0, -1.0, 3.0])):
        same(f, x)
    assert cl.grad(f)(np.array([2.0, 4.0])).tolist() == [0.5, 0.25]


def double(v: float) -> float:
    return 2.0 * v


@pytest.mark.sweep
def test_lists_and_arrays_are_sorted_in_place() -> None:
    def f(x: cl.f64[:], m: cl.f64[:, :]) -> float:
        xs = [v * v for v in x]
        xs.sort()
        ys = [(v, i) for i, v in enumerate(x)]
        ys.sort(key=lambda pair: -pair[0])
        zs = [v for v in x]
        zs.sort(key=abs, reverse=True)
        zs.reverse()
        rows, columns = m.copy(), m.copy()
        rows.sort()
        columns.sort(axis=0)
        total = 0.0
        for k in range(len(x)):
            total += (k + 1) * (xs[k] + 2.0 * ys[k][0] * ys[k][1] + 3.0 * zs[k])
            xs.reverse()
        return total + rows[0, 1] + 2.0 * columns[1, 0]

    matrix = np.cos(np.arange(6.0)).reshape(2, 3)
    for x in (X, X[:1], X[:0]):
        same(f, x, matrix)
    cl.check_grads(f, (X + 0.1 * np.arange(5.0), matrix))


def test_functions_that_sort_what_they_are_given() -> None:
    def order(a):  # type: ignore[no-untyped-def]
        a.sort()

    def f(x: cl.f64[:]) -> float:
        def turn(a):  # type: ignore[no-untyped-def]
            a.reverse()

        y, z = x.copy(), [v * v for v in x]
        order(y)
        total = 2.0 * y[1] + 3.0 * x[1]
        turn(z)
        for k in range(2):
            if k == 1:
                y.sort()
            y[0] += 5.0
        return total + z[0] + y[0] + 10.0 * y[1]

    same(f, X)
    cl.check_grads(f, (X + 0.1 * np.arange(5.0),))


def test_other_names_of_what_is_sorted_are_refused() -> None:
    def other(x: cl.f64[:]) -> float:
        xs = [v for v in x]
        ys = xs
        xs.sort()
        return ys[0]

    def callers(x: cl.f64[:]) -> float:
        x.sort()
        return x[0]

    def backwards(x: cl.f64[:]) -> float:
        y = x.copy()
        y.reverse()  # type: ignore[attr-defined]
        return y[0]

    for function in (other, callers, backwards):
        with pytest.raises(cl.CompileError, match=r"\.(sort|reverse)\(\)"):
            cl.jit(function)(X)


def test_map_and_filter() -> None:
    same(lambda x: sum(map(double, x)) + max(map(abs, x)), X)
    same(lambda x: len(list(filter(lambda v: v > 0.0, x))), X)
    same(lambda x: sum(map(lambda v: v * x[0], filter(lambda v: v < 1.0, x))), X)
    assert cl.grad(lambda x: sum(map(double, x)))(X).tolist() == [2.0] * 5


def test_assignments_within_expressions() -> None:
    def f(x: cl.f64[:]) -> float:
        total = 0.0
        if (n := len(x)) > 2 and x[0] > 0.0:
            total = n * x[1]
        while (n := n // 2) > 0:
            if n == 2:
                continue
            total += x[n] * n
        squares = [y * y for v in x if (y := v - 1.0) > 0.0]
        last = (z := total * 2.0) + z
        return sum(squares) + last + sum(w for v in x if (w := abs(v)) < 2.0)

    for x in (X, X[:2], np.arange(1.0, 9.0)):
        same(f, x)
    cl.check_grads(f, (1.1 * X,))


def test_conditions_that_assign_are_asked_in_order() -> None:
    def f(x: cl.f64[:], most: float) -> float:
        total, i = 0.0, 0
        while i < len(x) and (v := x[i]) < most and (w := v * v) > 0.1:
            total += w * (i + 1)
            i += 1
        else:
            total += 100.0 * i
        for k in range(len(x)):
            if k < len(x) - 1 and (y := x[k + 1]) > 0.0:
                total += y
            while (z := total / 2.0) > 300.0:
                total = z
                if k == 2:
                    break
            else:
                total += 1.0
        return total

    for x in (X, X[:2], X[:0], np.arange(1.0, 9.0)):
        for most in (1.5, 4.0, 100.0):
            same(f, x, most)
    cl.check_grads(f, (np.arange(1.0, 9.0) + 0.25, 4.0))


def test_an_assignment_that_may_not_be_made_is_refused() -> None:
    def maybe(x: float) -> float:
        return (y := x) + y if x > 0.0 else 1.0

    def after(x: float) -> float:
        n = 1.0
        return n + (n := x)

    def leaves_another(x: float) -> float:
        for _ in range(3):
            while (y := x) < 0.0 or y > 1.0:
                x = 0.5
            else:
                break
        return x

    def leaves_another_by_a_case(x: float, k: int) -> float:
        for _ in range(3):
            while (y := x) < 0.0 or y > 1.0:
                x = 0.5
            else:
                match k:
                    case 1:
                        break
        return x

    with pytest.raises(cl.CompileError, match="CL0218"):
        cl.jit(leaves_another_by_a_case)(1.0, 1)
    for function in (maybe, after, leaves_another):
        with pytest.raises(cl.CompileError, match="CL0218"):
            cl.jit(function)(1.0)


def one_of_several(x: cl.f64[:], i: int) -> float:
    taken = [x, x[1:], x * 2.0][i]
    return len(taken) + taken[0] * taken[-1]


def test_one_of_arrays_that_are_listed_is_that_array() -> None:
    """Of whatever size; no list of them is made."""
    for i in range(-3, 3):
        same(one_of_several, X, i)
        cl.check_grads(one_of_several, (X, i))
    for i in (-4, 3):
        with pytest.raises(IndexError, match="out of range for size 3"):
            cl.jit(one_of_several)(X, i)
    same(lambda x, y, i: [x, y][i][i] + [x, y][1][0], X, X[2:], 1)
    same(lambda x, i: [[1.0, 2.0], [3.0, x[0]]][i][1] + [x[0], x[1]][i], X, -1)
    same(lambda n, x, i: float([n, x][i][0]), np.array([2, 3]), X[:2], 1)
    assert "append" not in cl.jit(one_of_several).show("core", X, 1)


def test_one_of_arrays_that_are_listed_is_another_name_of_it() -> None:
    def updated(x: cl.f64[:], i: int) -> float:
        y, z = x.copy(), x * 2.0
        taken = [y, z][i]
        taken[0] = 5.0
        return y[0] + z[0]

    with pytest.raises(cl.CompileError, match="CL0804"):
        cl.jit(updated)(X, 1)


def test_classes_that_are_subscripted() -> None:
    class Cubic(NamedTuple):
        start: float
        end: float

    @dataclasses.dataclass
    class Curve:
        heights: cl.f64[:]
        scale: float = 2.0

        def __getitem__(self, k: int) -> float:
            return self.scale * self.heights[k]

        def __len__(self) -> int:
            return len(self.heights)

    def total(x: cl.f64[:]) -> float:
        curve, cubic = Curve(x), Cubic(x[0], 2.0)
        found = sum(curve[k] * k for k in range(len(curve)))
        return found + curve[-1] * cubic[1]

    same(total, X)
    cl.check_grads(cl.jit(total), (X,))
