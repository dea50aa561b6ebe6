"""Large arrays to whose rows all steps add: chunks take turns at each row.

The grain is made so small that loops of a few steps have several chunks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from containers import leaves
from golden_cases import check_cases

import chadllvm as cl
from chadllvm.backend.runtime import runtime
from chadllvm.ir.loops_check import check_loops
from chadllvm.ir.loops_pretty import pretty_loops
from chadllvm.ir.term import Program
from chadllvm.lower.chunks import spread, turns
from chadllvm.lower.chunks.parallel import parallel
from chadllvm.lower.lower import lower_function

pytestmark = pytest.mark.optimised

# The grain is no option, so nothing may come from the cache.
THREADED = cl.CompileOptions(cache=False)
SERIAL = replace(THREADED, parallel=False)
WHOLE = replace(THREADED, disabled=frozenset({"parallel"}))

THREADS = (1, 2, 3, 8)


@pytest.fixture
def small_grain(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(spread, "GRAIN", 40)
    monkeypatch.setattr(turns, "ROW", 8.0)
    monkeypatch.setattr(turns, "FEWEST_ROWS", 2)
    yield
    runtime().lib.chad_set_threads(0)


def test_golden(golden: Callable[[Path, str], None]) -> None:
    def run(title: str, program: Program) -> str:
        function = parallel(lower_function(program.entry))
        check_loops(function)
        return pretty_loops(function)

    check_cases(Path(__file__).with_name("turns.cases"), run, golden)


def layers(w: cl.f64[:, :], v: cl.f64[:], xs: cl.f64[:, :]) -> float:
    """Large weights, and few points, each of which needs all of them."""
    total = 0.0
    for x in xs:
        out = 0.0
        for r in range(len(v)):
            out += v[r] * math.tanh(sum(w[r, j] * x[j] for j in range(len(x))))
        total += out * out
    return total


def components(w: cl.f64[:, :], m: cl.f64[:, :], xs: cl.f64[:, :]) -> float:
    """Packed triangular matrices, and what all rows need of a point."""
    total = 0.0
    for x in xs:
        terms = np.zeros(len(w))
        for k in range(len(w)):
            for i in range(len(x)):
                below = sum(
                    w[k, i * (i - 1) // 2 + j] * (x[j] - m[k, j]) for j in range(i)
                )
                terms[k] -= (below + x[i] - m[k, i]) ** 2
        most = np.max(terms)
        total += most + math.log(np.sum(np.exp(terms - most)))
    return total


def each(w: cl.f64[:, :], xs: cl.f64[:, :]) -> cl.f64[:]:
    """A value for each point, so that chunks are of steps and not of sums of them."""
    out = np.zeros(len(xs))
    for i in range(len(xs)):
        for r in range(len(w)):
            near = sum((w[r, j] - xs[i, j]) ** 2 for j in range(xs.shape[1]))
            out[i] += math.exp(-near)
    return out


def some(w: cl.f64[:, :], xs: cl.f64[:, :], limit: float) -> float:
    """Steps that leave rows out, and rows that points have nothing to do with."""
    total = 0.0
    for x in xs:
        for r in range(len(w)):
            if x[0] * (r - 3) < limit:
                total += math.sin(sum(w[r, j] * x[j] for j in range(len(x))))
    return total


RANDOM = np.random.default_rng(0)
CASES: dict[str, tuple[Callable[..., Any], tuple[Any, ...], tuple[int, ...]]] = {
    "layers": (
        layers,
        (RANDOM.normal(size=(30, 21)), RANDOM.normal(size=30), np.ones((37, 21)) * 0.1),
        (0, 1),
    ),
    "components": (
        components,
        tuple(
            RANDOM.normal(size=shape) * 0.3 for shape in ((9, 66), (9, 12), (53, 12))
        ),
        (0, 1),
    ),
    "few_components": (
        components,
        tuple(RANDOM.normal(size=s) * 0.3 for s in ((9, 66), (9, 12), (5, 12))),
        (0, 1),
    ),
    "some": (
        some,
        (RANDOM.normal(size=(30, 21)), RANDOM.normal(size=(41, 21)), 0.5),
        (0,),
    ),
}


def takes_turns(function: Any, *args: Any) -> bool:
    return "chad_row_turn" in function.show("loops", *args)


def check_bits(function: Any, args: tuple[Any, ...], derived: Any) -> None:
    """The same bits on all numbers of threads, and nearly those of the whole loop."""
    threads, serial, whole = (
        derived(cl.jit(options=o)(function)) for o in (THREADED, SERIAL, WHOLE)
    )
    assert takes_turns(threads, *args)
    assert not takes_turns(whole, *args)
    expected = [*leaves(serial(*args))]
    for a, b in zip(expected, leaves(whole(*args)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-12)
    for count in THREADS:
        runtime().lib.chad_set_threads(count)
        for _ in range(3):
            for a, b in zip(leaves(threads(*args)), expected, strict=True):
                np.testing.assert_array_equal(a, b)


@pytest.mark.sweep(share=2)
@pytest.mark.usefixtures("small_grain")
@pytest.mark.parametrize("name", CASES)
def test_the_same_bits_for_any_number_of_threads(name: str) -> None:
    function, args, wrt = CASES[name]
    check_bits(function, args, lambda f: cl.value_and_grad(f, argnums=wrt))


@pytest.mark.usefixtures("small_grain")
def test_steps_of_a_pullback_take_turns() -> None:
    w, xs, ct = (RANDOM.normal(size=s) for s in ((30, 21), (25, 21), (25,)))

    def pulled(f: Any) -> Any:
        @cl.jit(options=f.options)
        def back(w: cl.f64[:, :], xs: cl.f64[:, :], ct: cl.f64[:]) -> cl.f64[:, :]:
            return cl.grad(lambda v: np.sum(f(v, xs) * ct))(w)

        return back

    check_bits(each, (w, xs, ct), pulled)


@cl.jit(options=THREADED)
def failing(w: cl.f64[:, :], xs: cl.f64[:, :], k: cl.i64[:, :]) -> float:
    """A check that fails at a row of a step."""
    total = 0.0
    for i in range(len(xs)):
        for r in range(len(w)):
            scale = xs[i, k[i, r]]
            total += math.sin(sum(w[r, j] * scale for j in range(xs.shape[1])))
    return total


@pytest.mark.usefixtures("small_grain")
def test_the_first_error_in_program_order() -> None:
    gradient, xs = cl.grad(failing), RANDOM.normal(size=(45, 21))
    w, k = RANDOM.normal(size=(30, 21)), np.zeros((45, 30), np.int64)
    assert takes_turns(gradient, w, xs, k)
    for threads in THREADS:
        runtime().lib.chad_set_threads(threads)
        indices = k.copy()
        for step, row in ((44, 0), (30, 29), (30, 28), (17, 3), (0, 1)):
            indices[step, row] = 1000 * step + row + 100
            with pytest.raises(IndexError, match=str(indices[step, row])):
                gradient(w, xs, indices)


@pytest.mark.parametrize("threads", [1, 2])
def test_there_are_no_copies_beside_large_cells(threads: int) -> None:
    """The weights have 2 MB, and so has their cotangent."""
    runtime().pool.clear()  # The next context has kept nothing of calls before.
    runtime().lib.chad_set_threads(threads)
    w, v, xs = np.full((256, 1024), 1e-3), np.ones(256), np.ones((128, 1024))
    gradient = cl.grad(cl.jit(layers))
    gradient(w, v, xs)
    context = runtime().pool[-1][0]
    runtime().lib.chad_memory_reset_peak(context)
    gradient(w, v, xs)
    peak = runtime().lib.chad_memory_peak(context)
    runtime().lib.chad_set_threads(0)
    assert w.nbytes <= peak <= w.nbytes + 300_000


def narrow(p: cl.f64[:], xs: cl.f64[:]) -> float:
    """Rows of one number each, for which there is much to do."""
    total = 0.0
    for x in xs:
        for r in range(len(p)):
            y = p[r] * x
            for _ in range(16):
                y = math.sin(y) * 1.1 + 0.3 * x * math.exp(-y * y)
            total += y
    return total


@pytest.mark.parametrize("threads", [1, 2])
def test_numbers_of_rows_are_no_larger_than_a_copy(threads: int) -> None:
    runtime().pool.clear()
    runtime().lib.chad_set_threads(threads)
    p, xs = np.full(20_000, 0.3), np.linspace(0.1, 1.0, 24)
    gradient = cl.grad(cl.jit(narrow))
    assert takes_turns(gradient, p, xs)
    gradient(p, xs)
    context = runtime().pool[-1][0]
    runtime().lib.chad_memory_reset_peak(context)
    gradient(p, xs)
    peak = runtime().lib.chad_memory_peak(context)
    runtime().lib.chad_set_threads(0)
    assert p.nbytes <= peak <= 2 * p.nbytes + 50_000
