"""Lists of arrays of different sizes at the boundary, and what they cost."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.backend.call import NativeFunction
from chadllvm.driver.pipeline import Gradient, compile_program
from chadllvm.frontend import signature, specialise
from chadllvm.ir.types import F64, I64, Product
from chadllvm.ir.value import from_value, to_value
from chadllvm.lower.count import count_operations
from tests.leaves import all_leaves, leaf_types
from tests.native import CHEAP

CHECKED = cl.CompileOptions(speculate=False)

XS = [np.array([1.0, -2.0, 0.5]), np.zeros(0), np.array([3.0])]


@cl.jit
def energy(xs: list[cl.f64[:]]) -> float:
    return sum(np.sum(x * x * x) for x in xs)


def slopes(xs: list[Any]) -> list[np.ndarray]:
    return [3.0 * np.asarray(x) ** 2 for x in xs]


def same(found: Any, wanted: Any) -> None:
    """Nested lists of equal arrays."""
    if isinstance(wanted, list | tuple):
        assert type(found) is type(wanted)
        assert len(found) == len(wanted)
        for a, b in zip(found, wanted, strict=True):
            same(a, b)
    else:
        assert type(found) is type(wanted)
        np.testing.assert_allclose(found, wanted)
        assert np.shape(found) == np.shape(wanted)


# ---- arguments -------------------------------------------------------------------


@pytest.mark.parametrize(
    "xs",
    [
        XS,
        tuple(XS),
        [],
        [[1.0, 2.0], (3, 4.5), np.array([1.0])],
        [[], [1]],
        [np.arange(10.0)[::3], np.arange(4.0)[::-1]],
        np.arange(6.0).reshape(3, 2),
        [np.array([1.0, 2.0], ">f8"), np.float64(2.0) * np.ones(1)],
    ],
)
def test_arguments(xs: Any) -> None:
    wanted = float(sum(np.sum(np.asarray(x, float) ** 3) for x in xs))
    assert energy(xs) == pytest.approx(wanted)
    assert cl.jit(energy.py_func, optimize=0)(xs) == pytest.approx(wanted)
    same(cl.grad(energy)(xs), slopes(xs))


def test_arrays_are_read_only_and_stay_what_they_are() -> None:
    xs = [x.copy() for x in XS]
    for x in xs:
        x.flags.writeable = False
    gradient = cl.grad(energy)(xs)
    gradient[0][0] = 7.0
    same(xs, XS)
    assert gradient[2].flags.writeable


def test_types_without_annotations() -> None:
    @cl.jit
    def count(xs):
        return len(xs), xs[-1][0] * 2

    assert count(XS) == (3, 6.0)
    assert count([[1, 2], [3]]) == (2, 6)
    assert count([[1.0], [2, 3]]) == (2, 4.0)
    assert count([[np.ones(2)], [2.0 * np.ones(1)]])[0] == 2


@pytest.mark.parametrize(
    ("xs", "error", "text"),
    [
        (3.0, TypeError, "parameter xs must be a list, as in list.f64"),
        ([1.0], TypeError, r"parameter xs\[0\] must be a NumPy array"),
        ([XS[0], "no"], TypeError, r"parameter xs\[1\]"),
        ([XS[0], np.ones((2, 2))], ValueError, r"xs\[1\] must have 1 dimension"),
        ([[1.0, "no"]], TypeError, r"xs\[0\]"),
        ([[1.0, [2.0]]], TypeError, r"xs\[0\]"),
        ([np.ones(2) * 1j], TypeError, "real numbers"),
    ],
)
def test_what_is_refused(xs: Any, error: type[Exception], text: str) -> None:
    for run in (energy, cl.grad(energy)):
        with pytest.raises(error, match=text):
            run(xs)
    assert energy(XS) == pytest.approx(20.125)


def test_places_in_lists_of_lists() -> None:
    @cl.jit
    def f(gs: list[list[cl.f64[:]]]) -> int:
        return len(gs)

    with pytest.raises(TypeError, match=r"gs\[2\]\[1\] must be a NumPy array"):
        f([[XS[0]], [], [XS[1], 3.0]])
    with pytest.raises(TypeError, match=r"gs\[1\] must be a list"):
        f([[XS[0]], 2.0])


def test_lists_in_records_and_dictionaries() -> None:
    @cl.jit
    def f(params):
        return sum(np.sum(w * w) for w in params["layers"]) * params["scale"]

    params = {"layers": [np.ones((2, 3)), np.ones((1, 2))], "scale": 0.5}
    assert f(params) == 4.0
    found = cl.grad(f)(params)
    same(found["layers"], [np.ones((2, 3)), np.ones((1, 2))])
    assert found["scale"] == 8.0


class Layers(NamedTuple):
    weights: list[cl.f64[:]]
    scale: float


def test_records_that_hold_lists() -> None:
    @cl.jit
    def norm(layers: Layers) -> float:
        return sum(np.sum(w * w) for w in layers.weights) * layers.scale

    @cl.jit
    def several_of(layers: Layers, n: int):
        return [Layers([w * i for w in layers.weights], 1.0 * i) for i in range(n)]

    layers = Layers([np.ones(2), np.ones(3)], 2.0)
    assert norm(layers) == 10.0
    found = cl.grad(norm)(layers)
    assert type(found) is Layers
    same(found.weights, [4.0 * np.ones(2), 4.0 * np.ones(3)])
    for a, b in zip(several_of(layers, 3), several_of.py_func(layers, 3), strict=True):
        assert type(a) is Layers
        same(a.weights, b.weights)

    @cl.jit
    def count(every: list[Layers]) -> int:
        return len(every)

    with pytest.raises(TypeError, match=r"every\[0\].weights is a list.f64.*in a list"):
        count([layers])


# ---- results ---------------------------------------------------------------------


@cl.jit
def several(xs: list[cl.f64[:]], n: int):
    doubled = [2.0 * x for x in xs]
    counts = [np.arange(i) for i in range(n)]
    cubes = [[[float(k) for k in range(j)] for j in range(i)] for i in range(n)]
    tables = [np.ones((i, 2)) * i for i in range(n)]
    return doubled, (counts, len(xs)), cubes, tables


@pytest.mark.parametrize("optimize", [0, 2])
def test_results(optimize: int) -> None:
    run = cl.jit(several.py_func, optimize=optimize)
    for n in (0, 3):
        found, wanted = run(XS, n), several.py_func(XS, n)
        arrays = [[np.array(row) for row in cube] for cube in wanted[2]]
        same(found, (*wanted[:2], arrays, wanted[3]))


def test_results_live_longer_than_the_call() -> None:
    first = several(XS, 3)[0][0]
    for _ in range(50):
        several(XS, 20)
    np.testing.assert_array_equal(first, 2.0 * XS[0])


# ---- derivatives -----------------------------------------------------------------


def test_directions() -> None:
    ts = [np.ones(3), np.zeros(0), np.array([2.0])]
    value, tangent = cl.jvp(energy, (XS,), (ts,))
    assert value == pytest.approx(energy(XS))
    wanted = sum(np.sum(g * t) for g, t in zip(slopes(XS), ts, strict=True))
    assert tangent == pytest.approx(wanted)
    _, second = cl.jvp(cl.grad(energy), (XS,), (ts,))
    same(second, [6.0 * x * t for x, t in zip(XS, ts, strict=True)])
    (doubled, (counts, _), *_), moved = cl.jvp(several, (XS, 3), (ts, None))
    same(moved[0], [2.0 * t for t in ts])
    assert moved[1] == (None, None)
    assert len(doubled) == len(counts) == 3
    assert cl.jvp(energy, (XS,), (None,))[1] == 0.0


def test_pullbacks() -> None:
    @cl.jit
    def scaled(xs: list[cl.f64[:]], a: float) -> list[cl.f64[:]]:
        return [a * x for x in xs]

    out, pullback = cl.vjp(scaled, XS, 2.0)
    same(out, [2.0 * x for x in XS])
    cts = [np.ones(3), np.zeros(0), np.array([5.0])]
    back, along = pullback(cts)
    same(back, [2.0 * ct for ct in cts])
    assert along == pytest.approx(
        sum(np.sum(x * c) for x, c in zip(XS, cts, strict=True))
    )
    with pytest.raises(ValueError, match="sizes"):
        pullback([np.ones(2), np.zeros(1), np.array([5.0])])
    with pytest.raises(ValueError, match="sizes"):
        pullback(cts[:2])


def test_tangents_of_other_sizes_are_refused() -> None:
    for ts in (XS[:2], [np.ones(2), np.ones(1), np.ones(1)]):
        with pytest.raises(ValueError, match=r"shapes \(3,\), \(0,\), \(1,\), its"):
            cl.jvp(energy, (XS,), (ts,))


@cl.jit
def table_energy(ms: list[cl.f64[:, :]], a: float) -> float:
    return sum(np.sum(m * m) for m in ms) * a


def test_several_parameters() -> None:
    ms = [np.ones((2, 3)), np.zeros((0, 4)), np.ones((1, 1))]
    tables, slope = cl.grad(table_energy, argnums=(0, 1))(ms, 3.0)
    same(tables, [6.0 * m for m in ms])
    assert slope == 7.0
    with pytest.raises(ValueError, match="shapes"):
        cl.jvp(table_energy, (ms, 1.0), ([m.T for m in ms], None))


def test_regular_arrays_of_lists() -> None:
    @cl.jit
    def stacked(xs: list[cl.f64[:]]):
        return np.array(xs), np.stack(xs, axis=1), np.concatenate(xs), np.vstack(xs)

    same(stacked([XS[0], 2.0 * XS[0]]), stacked.py_func([XS[0], 2.0 * XS[0]]))
    with pytest.raises(ValueError, match="sizes"):
        stacked(XS)
    with pytest.raises(ValueError, match="sizes"):
        stacked([])


# ---- what is refused, since Python would share -----------------------------------


def test_arguments_are_not_changed() -> None:
    @cl.jit
    def f(xs: list[cl.f64[:]]) -> float:
        xs[0][0] = 1.0
        return xs[0][0]

    with pytest.raises(cl.CompileError, match="CL0803"):
        f(XS)


def test_an_array_in_a_list_is_the_same_array() -> None:
    @cl.jit
    def by_name(a: cl.f64[:], n: int):
        x = 2.0 * a
        rows = [x[:i] * 1.0 for i in range(n)]
        rows.append(x)
        x[0] = 5.0
        return rows

    @cl.jit
    def by_list(a: cl.f64[:], n: int):
        rows = [a[:i] * 1.0 for i in range(n)]
        row = rows[1]
        row[0] = 5.0
        return rows

    @cl.jit
    def twice(a: cl.f64[:], n: int):
        rows = [a[:i] * 1.0 for i in range(n)]
        others = list(rows)
        rows[1][0] = 7.0
        return others

    for run in (by_name, by_list, twice):
        with pytest.raises(cl.CompileError, match="CL0804"):
            run(XS[0], 3)


def test_a_list_in_a_list_is_the_same_list() -> None:
    @cl.jit
    def longer(xs: list[list[float]]):
        ys = [[v for v in x] for x in xs]
        row = ys[0]
        row.append(1.0)
        return ys

    @cl.jit
    def before(x: float):
        row = [x]
        rows = [row, [x]]
        row.append(2.0)
        return np.array(rows)

    lists = [[1.0], []]
    assert [row.tolist() for row in longer(lists)] == longer.py_func(lists)
    with pytest.raises(cl.CompileError, match="CL0804"):
        before(1.0)


def test_arrays_are_changed_by_what_they_were() -> None:
    @cl.jit
    def f(xs: list[cl.f64[:]]):
        ys = [x * 1.0 for x in xs]
        ys[0][:] = ys[0][::-1]
        ys[1][:] = ys[0][:1] * 2.0
        others = list(xs)
        others.append(ys[1])
        return ys, others

    xs = [XS[0], np.ones(1)]
    same(f(xs), f.py_func(xs))


# ---- cost ------------------------------------------------------------------------


def operations(function: Any, xs: list[np.ndarray], *rest: Any) -> list[int]:
    """How many operations machine code takes for the value, and with the gradient."""
    types = [p.annotation for p in signature(function.py_func)]
    flat = [leaf for ty in types for leaf in leaf_types(ty)]
    pairs = zip((xs, *rest), types, strict=True)
    values = [to_value(arg, ty) for arg, ty in pairs]
    leaves = all_leaves(values, types)
    args = [from_value(leaf, ty) for leaf, ty in zip(leaves, flat, strict=True)]
    found = []
    for wanted in (None, Gradient((0,))):
        source = specialise(function.py_func, types)
        loops = compile_program(source, wanted, lambda f: f, CHECKED).loops
        assert loops is not None
        result = Product((F64, *([flat[0]] if wanted else []), I64))
        names = [f"p{k}" for k in range(len(flat))]
        counting = count_operations(loops)
        run = NativeFunction(counting, "main", names, flat, result, effort=CHEAP)
        found.append(int(run(*args)[-1]))
    return found


@cl.jit
def jumps(xs: list[cl.f64[:]], where: cl.i64[:]) -> float:
    total = 1.0
    for k in where:
        total += total * xs[k][k]
    return total


@cl.jit
def changed(xs: list[cl.f64[:]], n: int) -> float:
    ys = [x * 1.0 for x in xs]
    for k in range(n):
        ys[k % 4][k % 5] = ys[(k + 1) % 4][0] * 0.5 + k
    return ys[0][0] + ys[3][4]


def test_an_element_costs_a_step() -> None:
    """Whatever the sizes of the arrays are that are not looked at."""

    def cost(size: int, count: int) -> list[int]:
        xs = [np.linspace(-0.1, 0.1, size) for _ in range(10)]
        return operations(jumps, xs, np.arange(count) % 10)

    small, large, longer = cost(10, 100), cost(200, 100), cost(200, 200)
    assert small[0] == large[0]
    assert small[1] < 6 * small[0]
    assert large[1] - small[1] <= 2 * 10 * 190
    assert longer[1] - large[1] < 6 * (longer[0] - large[0])


def test_changes_in_a_loop_cost_a_step_each() -> None:
    def cost(size: int, n: int) -> list[int]:
        return operations(changed, [np.ones(size) for _ in range(4)], n)

    before, after = cost(50, 100), cost(50, 200)
    large, larger = cost(500, 100), cost(500, 200)
    for k in range(2):
        assert after[k] - before[k] == pytest.approx(larger[k] - large[k], abs=50)
        assert after[k] - before[k] <= 100 * 80
        assert large[k] - before[k] <= 60 * 4 * 450


@cl.jit
def bisection(xs: list[cl.f64[:]], v: float) -> float:
    total = 0.0
    for x in xs:
        low, high = 0, len(x)
        while low < high:
            middle = (low + high) // 2
            if x[middle] < v:
                low = middle + 1
            else:
                high = middle
        total += x[min(low, len(x) - 1)] ** 2
    return total


def test_an_array_of_a_list_is_not_copied() -> None:
    def cost(size: int) -> list[int]:
        xs = [np.linspace(0.0, 1.0, size) for _ in range(5)]
        assert bisection(xs, 0.3) == pytest.approx(bisection.py_func(xs, 0.3))
        return operations(bisection, xs, 0.3)

    small, large = cost(64), cost(4096)
    assert large[0] - small[0] <= 5 * 6 * 40
    assert large[1] - small[1] <= 5 * 6 * 40 + 2 * 5 * 4096


def test_a_million_arrays() -> None:
    xs = [np.full(k % 3, 1.0) for k in range(10**6)]
    gradient = cl.grad(energy)(xs)
    assert len(gradient) == 10**6
    np.testing.assert_array_equal(gradient[5], [3.0, 3.0])
