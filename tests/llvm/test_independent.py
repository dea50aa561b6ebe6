"""Loops whose steps are said to be independent, and those that are not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.backend.jit import host_target
from chadllvm.ir.loops import (
    PTR,
    AddTo,
    Branch,
    For,
    Let,
    Load,
    Offset,
    Reg,
    Stmt,
    Store,
)
from chadllvm.ir.term import Lit
from chadllvm.ir.types import BOOL, F64, I64
from chadllvm.llvm.independent import is_independent

pytestmark = pytest.mark.optimised

avx2 = pytest.mark.skipif(
    not dict(host_target().features).get("avx2"), reason="the processor has no AVX2"
)

INDEX, AT, COND = Reg("i", I64), Reg("at", I64), Reg("cond", BOOL)
P, Q, V = Reg("p", PTR), Reg("q", PTR), Reg("v", F64)
NEXT = Let(AT, "iadd", (INDEX, Lit(1)))


def loop(*body: Stmt) -> For:
    return For(INDEX, Lit(0), Lit(9), body, commutes=True)


def test_stores_at_places_that_move() -> None:
    stencil = loop(NEXT, Load(V, P, AT, 0), Store(Q, INDEX, V, 0))
    assert is_independent(stencil)
    assert is_independent(loop(Offset(Q, P, INDEX, F64), Store(Q, Lit(0), V, 0)))
    assert is_independent(loop(Branch(COND, (Store(P, INDEX, V, 0),))))
    assert not is_independent(replace(stencil, commutes=False))
    assert not is_independent(replace(stencil, lanes=4))


@pytest.mark.parametrize(
    "body",
    [
        (Store(P, Lit(0), V, 0),),
        (Load(V, P, INDEX, 0),),
        (Store(P, INDEX, V, 0), AddTo(Q, Lit(0), V, 1)),
        (Branch(COND, (Store(P, INDEX, V, 0),), (Store(P, Lit(0), V, 0),)),),
        (For(AT, Lit(0), Lit(3), (Store(P, AT, V, 0),)),),
    ],
)
def test_other_loops_are_left_alone(body: Sequence[Stmt]) -> None:
    assert not is_independent(loop(*body))


def test_buffers_that_steps_use_in_turn() -> None:
    """What a step has put there is not the next one's."""
    body = (NEXT, Store(Q, AT, V, 1), Load(V, Q, AT, 1), Store(P, INDEX, V, 0))
    assert is_independent(loop(*body))
    assert not is_independent(replace(loop(*body), private=(1,)))


def heat(start: cl.f64[:], steps: int) -> float:
    u = start.copy()
    for _ in range(steps):
        u[1:-1] += 0.2 * (u[:-2] + u[2:] - 2.0 * u[1:-1])
    return np.sum(u**2)


def ring(start: cl.f64[:, :], steps: int) -> float:
    """Borders that meet, written with loops."""
    n, m = start.shape
    u = start.copy()
    for _ in range(steps):
        v = np.zeros((n, m))
        for i in range(n):
            for j in range(m):
                around = u[i - 1, j] + u[(i + 1) % n, j] + u[i, (j + 1) % m]
                v[i, j] = u[i, j] + 0.1 * (around + u[i, j - 1] - 4.0 * u[i, j])
        u = v
    return np.sum(u**2)


def wave(start: cl.f64[:, :, :], steps: int) -> float:
    """Two plates of the past."""
    old, u = start.copy(), start.copy()
    for _ in range(steps):
        new = 2.0 * u - old
        inside = u[1:-1, 1:-1, 1:-1]
        new[1:-1, 1:-1, 1:-1] += 0.1 * (
            (u[:-2, 1:-1, 1:-1] - 2.0 * inside + u[2:, 1:-1, 1:-1])
            + (u[1:-1, :-2, 1:-1] - 2.0 * inside + u[1:-1, 2:, 1:-1])
            + (u[1:-1, 1:-1, :-2] - 2.0 * inside + u[1:-1, 1:-1, 2:])
        )
        old, u = u, new
    return np.sum(u**2)


@pytest.mark.sweep(share=3)
@pytest.mark.parametrize(("program", "rank"), [(heat, 1), (ring, 2), (wave, 3)])
def test_stencils(program: Callable[..., Any], rank: int) -> None:
    """Arrays that take turns are read as they were, at all lengths of a row."""
    rng = np.random.default_rng(rank)
    f, plain = cl.jit(program), cl.jit(program, options=cl.CompileOptions(optimize=0))
    gradient, exact = cl.value_and_grad(f), cl.value_and_grad(plain)
    for side in (2, 3, 4, 5, 7, 11, 14):
        x = rng.normal(size=(*(3, 4, 5)[: rank - 1], side))
        value, slopes = gradient(x, 5)
        expected, correct = exact(x, 5)
        assert value == pytest.approx(expected, rel=1e-12)
        assert f(x, 5) == pytest.approx(expected, rel=1e-12)
        np.testing.assert_allclose(slopes, correct, rtol=1e-10, atol=1e-12)


@avx2
def test_nothing_is_asked_when_the_loop_runs() -> None:
    x = np.ones(9)
    for f in (cl.jit(heat), cl.value_and_grad(cl.jit(heat))):
        text = str(f.show("llvm", x, 2))
        assert "vector.memcheck" not in text
        assert "vector.body" in text
