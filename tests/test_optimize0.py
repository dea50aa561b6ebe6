"""The permanent mode: how it is asked for, its errors, its memory, and its cost.

That its values and gradients are those of the default is tested program by program in
`test_programs.py`, and for random programs by `random_native.py`.
"""

from __future__ import annotations

import gc
import math
import os
import pickle
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import chadllvm as cl
from bench.count import Counted
from bench.paper.optimize0 import WORKLOADS
from chadllvm.backend.call import NativeFunction
from chadllvm.backend.runtime import runtime
from chadllvm.ir.loops_check import check_loops
from chadllvm.ir.parse import parse
from chadllvm.ir.types import F64, I64, Product
from chadllvm.lower.boxed.lower import lower_boxed
from chadllvm.lower.count import count_operations
from chadllvm.lower.lower import lower_function
from chadllvm.support.options import CompileOptions

MEGABYTE = 1 << 20
WEIGHTS = np.array([[1.0, 2.0], [3.0, 4.0]])
CHOSEN = np.array([True, False])


@cl.jit(optimize=0)
def energy(a: cl.f64[:], k: int) -> float:
    total = 0.0
    for i in range(k):
        total = total + math.sin(a[i]) * a[i] if a[i] > 0.0 else total * a[i]
    return total


@cl.jit
def fast(a: cl.f64[:], k: int) -> float:
    total = 0.0
    for i in range(k):
        total = total + math.sin(a[i]) * a[i] if a[i] > 0.0 else total * a[i]
    return total


A = np.array([0.5, -1.5, 2.0])


# ---- options


@pytest.mark.parametrize("level", [1, 3, -1, True, False, "0", 0.0, (0,)])
def test_a_level_that_does_not_exist(level: Any) -> None:
    with pytest.raises(ValueError, match="the levels are 0 and 2"):
        cl.jit(optimize=level)
    with pytest.raises(ValueError, match="the levels are 0 and 2"):
        cl.CompileOptions(optimize=level)


def test_the_level_stands_beside_other_options() -> None:
    options = cl.CompileOptions(verify=False)
    for function in (
        cl.jit(energy.py_func, options=options, optimize=0),
        cl.jit(options=options, optimize=0)(energy.py_func),
    ):
        assert function._options == cl.CompileOptions(verify=False, optimize=0)
    assert cl.jit(energy.py_func, optimize=2)._options == cl.CompileOptions()
    with pytest.raises(ValueError):
        cl.jit(energy.py_func, optimize=1)


def test_gradients_inherit_the_mode() -> None:
    for derivative in (cl.grad(energy), cl.value_and_grad(energy)):
        assert "chad_cells_add_element" in derivative.show("loops")
        assert "chad_cells_add_element" in derivative.show("llvm")
        assert derivative.show("simplified") == derivative.show("chad")
    assert "chad_cells" not in (loops := cl.grad(fast).show("loops"))
    assert "chad_array" not in loops
    assert "chad_array_data" in energy.show("loops")


def test_gradients_are_pickled_with_the_mode() -> None:
    again = pickle.loads(pickle.dumps(cl.grad(energy)))
    assert again._options.optimize == 0
    np.testing.assert_allclose(again(A, 3), cl.grad(fast)(A, 3), rtol=1e-12)


def test_forward_mode() -> None:
    direction = (np.array([1.0, 0.5, -2.0]), None)
    for make in (lambda f: f, cl.grad, cl.value_and_grad):
        found = cl.jvp(make(energy), (A, 3), direction)
        wanted = cl.jvp(make(fast), (A, 3), direction)
        for a, b in zip(_leaves(found), _leaves(wanted), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, tuple):
        return [leaf for part in value for leaf in _leaves(part)]
    return [value]


@cl.jit(optimize=0)
def kinds(x: float, flags=CHOSEN, pair=(2, 0.5)):
    n, y = pair
    table = [[WEIGHTS[i, j] * x for j in range(2)] for i in range(n)]
    seen = [not f for f in flags]
    return sum(row[0] * y for row in table), (table, seen, CHOSEN, n)


def test_results_and_constants_of_all_types() -> None:
    (value, gradient), aux = cl.value_and_grad(kinds, has_aux=True)(3.0), kinds(3.0)[1]
    assert value[0] == 6.0 and gradient == 2.0
    for table, seen, chosen, n in (aux, value[1]):
        assert table.tolist() == (3.0 * WEIGHTS).tolist()
        assert seen.dtype == chosen.dtype == np.bool_ and n == 2
        assert seen.tolist() == [False, True] and chosen.tolist() == [True, False]
        chosen[0] = False
    assert kinds(3.0)[1][2].tolist() == [True, False]


# ---- errors and interrupts


@cl.jit(optimize=0)
def ragged(x: cl.f64[:], n: int) -> float:
    rows = [x if i else x[1:] for i in range(n)]
    return rows[0][0]


def test_errors_are_raised_at_once_at_the_users_line() -> None:
    with pytest.raises(ValueError, match=r"rows of different lengths.*test_optimize0"):
        ragged(np.ones(3), 2)
    for run in (energy, cl.grad(energy)):
        with pytest.raises(IndexError, match=r"index 3 is out of range for size 3"):
            run(A, 4)
        np.testing.assert_allclose(energy(A, 3), fast(A, 3), rtol=1e-12)


def test_interrupt() -> None:
    run = cl.grad(energy)
    many = np.ones(10**7)
    run(A, 3)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        while True:
            run(many, 10**7)
    timer.join()
    assert time.perf_counter() - start < 2.0
    np.testing.assert_allclose(run(A, 3), cl.grad(fast)(A, 3), rtol=1e-12)


# ---- memory


def resident() -> int:
    """The bytes of memory that this process has now."""
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def peak_of(call: Callable[[], Any]) -> int:
    """The most bytes that a call has held."""
    call()
    context, lib = runtime().pool[-1][0], runtime().lib
    lib.chad_memory_reset_peak(context)
    call()
    assert runtime().pool[-1][0] == context and lib.chad_memory_used(context) == 0
    return int(lib.chad_memory_peak(context))


@pytest.mark.sweep
@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="/proc is missing")
@pytest.mark.parametrize("size", [3, 4])
def test_many_calls_leave_nothing_behind(size: int) -> None:
    """A call with four fails each time."""
    run = cl.value_and_grad(energy)

    def calls(count: int) -> None:
        for _ in range(count):
            try:
                run(A, size)
            except IndexError:
                assert size == 4

    calls(1000)
    gc.collect()
    before = resident()
    calls(10_000)
    gc.collect()
    assert resident() - before < 2 * MEGABYTE


@pytest.mark.parametrize("name", ["recurrence", "matrix_vector", "carried_array"])
def test_peak_memory_is_proportional_to_the_work(name: str) -> None:
    (workload,) = (w for w in WORKLOADS if w.function.__name__ == name)
    run = Counted(workload.function, workload.wrt, CompileOptions(optimize=0))
    per_step = []
    for n in (10_000, 160_000):
        args = workload.args(n)
        steps = run(*args)[1]
        per_step.append(peak_of(lambda args=args: run(*args)) / steps)
    # Memory is taken in chunks that double, and their free rest belongs to it.
    assert per_step[1] < 1.5 * per_step[0]
    assert max(per_step) < 64.0


def test_a_value_of_scalars_takes_no_memory() -> None:
    (workload,) = (w for w in WORKLOADS if w.function.__name__ == "recurrence")
    run = cl.jit(workload.function, optimize=0)
    assert peak_of(lambda: run(0.4, 10**6)) < 4096


# ---- cost


def test_statements_and_elements_are_counted() -> None:
    def double(a: cl.f64[:]) -> cl.f64[:]:
        return [v * 2.0 for v in a]

    for level in (0, 2):
        run = Counted(double, None, CompileOptions(optimize=level))
        steps = {n: run(np.arange(float(n))) for n in (0, 10, 20, 1000)}
        for n, (value, _) in steps.items():
            assert value.tolist() == [2.0 * k for k in range(n)]
        for_ten = steps[20][1] - steps[10][1]
        assert for_ten % 10 == 0 and 2 <= for_ten // 10 <= 12
        assert steps[1000][1] - steps[20][1] == 98 * for_ten
        # The count is of this call, not of what the context did before.
        assert run(np.arange(10.0))[1] == steps[10][1]


BRANCHES = """
def main(n: i64, x: f64) {
  t = fold[add](n) { i ->
    c = ilt(i, 2)
    y = if c {
      z = zeros(n)
      u = index(z, 0)
      v = add(u, x)
      yield v
    } else {
      yield x
    }
    yield y
  }
  return t
}
"""


def test_only_what_is_run_is_counted() -> None:
    program = parse(BRANCHES)
    types = (I64, F64)
    for lower in (lower_boxed, lower_function):
        loops = count_operations(lower(program.entry))
        check_loops(loops)
        run = NativeFunction(loops, "main", ["n", "x"], types, Product((F64, I64)))
        counts = {n: run(n, 0.5) for n in (2, 10, 11, 12)}
        assert all(value == n * 0.5 for n, (value, _) in counts.items())
        steps = {n: count for n, (_, count) in counts.items()}
        # One iteration without zeros more, and an element of zeros more in two others.
        assert steps[12] - steps[11] == steps[11] - steps[10] > 2
        assert steps[10] - steps[2] == 8 * (steps[11] - steps[10])


def summed_up(x: cl.f64[:]) -> float:
    n = len(x)
    a = np.zeros(n)
    for i in range(n):
        a[i] = x[i] * 2.0 + (a[i - 1] if i > 0 else 0.0)
    return np.sum(a)


def stacked(x: cl.f64[:]) -> float:
    stack = [0.0]
    for i in range(len(x)):
        stack.append(x[i] * stack[-1] + 1.0)
        if i % 3 == 2:
            b = stack.pop()
            a = stack.pop()
            stack.append(a * b * 0.01)
    return sum(stack)


def rows_updated(x: cl.f64[:]) -> float:
    n = len(x)
    m = np.zeros((n, 3))
    for i in range(n):
        m[i, 0] = x[i]
        m[i, 1] = m[i - 1, 0] if i > 0 else 1.0
        row = m[i]
        m[i, 2] = row[0] * row[1]
        m[i] = m[i // 2] + m[i]
    return np.sum(m[:, 2])


def exchanged(x: cl.f64[:]) -> float:
    n = len(x)
    a, b = x.copy(), np.ones(n)
    for i in range(n):
        if x[i] > 0.6:
            a, b = b, a
        a[i] = b[i - 1] * x[i]
        b[0] = b[0] * 0.5 + a[i]
    return np.sum(a) + b[n // 2]


def kept_and_updated(x: cl.f64[:]) -> float:
    """Two versions that are read in turns."""
    old = x.copy()
    new = old.copy()
    s = 0.0
    for i in range(len(x)):
        new[i] = s + old[i] * old[i - 1]
        s += new[i // 2] * old[i // 2]
    return s + np.sum(old) + np.sum(new)


UPDATING = (summed_up, stacked, rows_updated, exchanged, kept_and_updated)


@pytest.mark.parametrize("function", UPDATING, ids=lambda f: f.__name__)
def test_updates_are_not_copies(function: Callable[..., float]) -> None:
    run = cl.jit(function, optimize=0)
    x = np.random.default_rng(0).uniform(0.4, 1.0, 60)
    assert run(x) == pytest.approx(function(x), rel=1e-12)
    gradient = cl.grad(run)(x)
    np.testing.assert_allclose(gradient, cl.grad(cl.jit(function))(x), rtol=1e-10)
    for wrt in (None, (0,)):
        counted = Counted(function, wrt, CompileOptions(optimize=0))
        sizes = (100, 400, 1600)
        work = [counted(np.linspace(0.4, 0.9, n))[1] for n in sizes]
        assert work[-1] < 1.1 * 16 * work[0]
