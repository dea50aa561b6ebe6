"""Folds whose elements are arrays: in blocks that need nothing of each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.backend.call import NativeFunction
from chadllvm.ir.types import F64, I64, Array, Product
from chadllvm.lower.chunks import spread
from chadllvm.lower.count import count_operations
from chadllvm.lower.lower import lower_function
from tests.on_threads import check_same_bits

RNG = np.random.default_rng(0)


@cl.jit(cache=False)
def product(a: cl.f64[:, :, :]) -> float:
    """Matrices; the transpose of a factor is made in each step."""
    return np.sum(cl.fold(lambda p, q: p @ q, a))


@cl.jit(cache=False)
def rows(a: cl.f64[:, :]) -> float:
    return np.sum(cl.fold(lambda p, q: np.tanh(p) + q, a))


@cl.jit(cache=False)
def affine(a: cl.f64[:, :, :], b: cl.f64[:, :]) -> float:
    """Two states of a block, one of which needs the other."""
    maps = [(a[k], b[k]) for k in range(len(b))]
    m, v = cl.fold(lambda p, q: (q[0] @ p[0], q[0] @ p[1] + q[1]), maps)
    return np.sum(m) * np.sum(v)


@cl.jit
def filled(p: cl.f64[:], q: cl.f64[:]) -> cl.f64[:]:
    """The next state is zeros that are updated."""
    out = np.zeros(len(p))
    for i in range(len(p)):
        out[i] += p[i] * q[0]
        out[i] += q[i] * p[len(p) - 1 - i]
    return out


@cl.jit(cache=False)
def loops(a: cl.f64[:, :]) -> float:
    return np.sum(cl.fold(filled, a) ** 2)


MATRICES = RNG.normal(size=(83, 3, 3)) * 0.6
VECTORS = RNG.normal(size=(83, 4)) * 0.5
PROGRAMS: list[tuple[Any, tuple[Any, ...]]] = [
    (product, (MATRICES,)),
    (rows, (VECTORS,)),
    (affine, (MATRICES, VECTORS[:, :3])),
    (loops, (VECTORS,)),
]


@pytest.fixture
def small_grain(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(spread, "GRAIN", 40)
    yield
    cl.set_num_threads(None)


@pytest.mark.sweep(share=3)
@pytest.mark.parametrize(("program", "args"), PROGRAMS)
@pytest.mark.parametrize("size", [1, 2, 3, 7, 83])
def test_derivatives(program: Any, args: tuple[Any, ...], size: int) -> None:
    some = tuple(array[:size] for array in args)
    assert np.isclose(program(*some), program.py_func(*some), rtol=1e-12)
    cl.check_grads(program, some)


@pytest.mark.optimised
@pytest.mark.parametrize(("program", "args"), PROGRAMS)
def test_blocks_and_their_reverses_run_in_chunks(
    program: Any, args: tuple[Any, ...]
) -> None:
    wrt = tuple(range(len(args)))
    both = program, cl.value_and_grad(program, argnums=wrt)
    counts = [str(f.report(*args)).count("runs in chunks") for f in both]
    assert counts[0] >= 1 and counts[1] > counts[0], counts


@pytest.mark.sweep(share=2)
@pytest.mark.optimised
@pytest.mark.usefixtures("small_grain")
@pytest.mark.parametrize(("program", "args"), PROGRAMS)
def test_same_bits(program: Any, args: tuple[Any, ...]) -> None:
    check_same_bits(cl.jit(program.py_func, cache=False), args, (0,))


@cl.jit(cache=False)
def seldom_changed(a: cl.f64[:], times: cl.i64[:]) -> float:
    total = 0.0
    for j in range(len(times)):
        s = a
        for _ in range(times[j]):
            s = np.sin(s) * 2.0
        total += s[j]
    return total


def test_a_loop_without_steps_copies_nothing() -> None:
    types = [Array(F64, 1), Array(I64, 1)]
    work = []
    for size in (100, 1000):
        args = np.ones(size), np.zeros(size, np.int64)
        assert seldom_changed(*args) == size
        (version,) = seldom_changed._versions.values()
        entry = version.compilation.stages["simplified"].entry
        loops = count_operations(lower_function(entry))
        result = Product((F64, I64))
        run = NativeFunction(loops, "main", ["a", "times"], types, result)
        work.append(int(run(*args)[-1]))
    assert work[1] < 11 * work[0]
