"""Buffers of one class of roots that are told apart, and those that are not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.ir.loops import (
    PTR,
    AddTo,
    Alloc,
    ArrayParam,
    Atom,
    For,
    Get,
    Let,
    Load,
    LoopFunction,
    Offset,
    Reg,
    Slot,
    Stmt,
    Store,
)
from chadllvm.ir.term import Lit
from chadllvm.ir.types import F64, I64
from chadllvm.llvm.independent import told_apart
from chadllvm.lower.striped import FEW, STRIP

pytestmark = pytest.mark.optimised

INDEX, V, W = Reg("i", I64), Reg("v", F64), Reg("w", F64)
NEXT, TWICE = Reg("next", I64), Reg("twice", I64)
MOVED = (Let(NEXT, "iadd", (INDEX, Lit(1))), Let(TWICE, "imul", (INDEX, Lit(2))))
INPUT, STATE, SPARE, OLDER = (Reg(name, PTR) for name in "usvo")
ROW, FRESH, OTHER = Reg("row", PTR), Reg("fresh", PTR), Reg("other", PTR)
COUNT = Lit(9)
POINTERS = (
    Get(STATE, Slot("state", PTR)),
    Get(SPARE, Slot("spare", PTR), (STATE,)),
    Get(OLDER, Slot("older", PTR)),
    Alloc(FRESH, 0, COUNT, F64, 0),
    Alloc(OTHER, 0, COUNT, F64, 0),
    Offset(ROW, STATE, Lit(3), F64),
)


def is_apart(*body: Stmt) -> bool:
    """Whether the steps are independent, behind the pointers of one class."""
    loop = For(INDEX, Lit(0), COUNT, (*MOVED, *body))
    params = (ArrayParam(INPUT, (Reg("n", I64),), F64),)
    stmts = (*POINTERS, loop)
    return loop in told_apart(LoopFunction("f", params, (), stmts, 1, (0,)))


@pytest.mark.parametrize(
    ("written", "read"),
    [(SPARE, STATE), (STATE, SPARE), (FRESH, OTHER), (OLDER, INPUT), (SPARE, ROW)],
)
def test_other_buffers(written: Reg, read: Reg) -> None:
    look = Load(V, read, INDEX, 0)
    assert is_apart(look, Store(written, NEXT, V, 0))
    assert is_apart(look, AddTo(written, NEXT, V, 0))
    assert is_apart(look, Load(W, read, NEXT, 0), AddTo(written, INDEX, V, 0))


@pytest.mark.parametrize(
    ("written", "read"),
    [(SPARE, OLDER), (OLDER, STATE), (FRESH, STATE), (STATE, ROW), (ROW, STATE)],
)
def test_perhaps_the_same(written: Reg, read: Reg) -> None:
    assert not is_apart(Load(V, read, INDEX, 0), Store(written, INDEX, V, 0))
    assert not is_apart(Load(V, read, INDEX, 0), AddTo(written, NEXT, V, 0))


def test_places_of_one_buffer() -> None:
    look = Load(V, STATE, INDEX, 0)
    assert is_apart(look, Store(STATE, INDEX, V, 0), AddTo(SPARE, TWICE, V, 0))
    assert not is_apart(look, AddTo(SPARE, INDEX, V, 0), AddTo(SPARE, NEXT, V, 0))
    assert not is_apart(look, AddTo(SPARE, Lit(3), V, 0))
    odd = Reg("odd", I64)
    ahead = Let(odd, "iadd", (TWICE, Lit(1)))
    assert is_apart(look, ahead, Store(SPARE, odd, V, 0), Load(W, SPARE, TWICE, 0))
    later = Let(odd, "iadd", (TWICE, Lit(4)))
    assert not is_apart(look, later, Store(SPARE, odd, V, 0), Load(W, SPARE, TWICE, 0))
    place = Reg("place", I64)
    found = Let(place, "imin", (INDEX, Lit(4)))
    assert not is_apart(look, found, Store(SPARE, place, V, 0))


WIDTH, OTHER_WIDTH, LENGTH = (Reg(name, I64) for name in ("m", "k", "length"))
SECOND, THIRD, CORNER = (Reg(name, PTR) for name in ("second", "third", "corner"))
DOUBLE, CROSSED = Reg("double", I64), Reg("crossed", I64)
ROWS = (
    *POINTERS,
    Let(LENGTH, "imax", (WIDTH, Lit(0))),
    Let(DOUBLE, "imul", (Lit(2), WIDTH)),
    Let(CROSSED, "imul", (WIDTH, OTHER_WIDTH)),
    Offset(SECOND, STATE, WIDTH, F64),
    Offset(THIRD, STATE, DOUBLE, F64),
    Offset(CORNER, STATE, CROSSED, F64),
)


def are_rows(*body: Stmt, low: int = 0, high: Atom = LENGTH) -> bool:
    """Whether the steps of a loop along a row are independent."""
    loop = For(INDEX, Lit(low), high, (*MOVED, *body))
    stmts = (*ROWS, loop)
    return loop in told_apart(LoopFunction("f", (), (), stmts, 1, (0,)))


def test_rows_of_one_buffer() -> None:
    """Places that are whole rows from each other, in a loop that is no longer."""
    first, second = AddTo(STATE, INDEX, V, 0), AddTo(SECOND, INDEX, W, 0)
    look = Load(V, THIRD, INDEX, 0)
    assert are_rows(look, first, second)
    assert are_rows(look, first, second, low=1, high=WIDTH)
    assert are_rows(Load(V, SECOND, NEXT, 0), AddTo(THIRD, NEXT, V, 0))
    assert not are_rows(look, first, second, low=-1)
    assert not are_rows(look, first, second, high=OTHER_WIDTH)
    assert not are_rows(look, first, second, high=Lit(9))
    assert not are_rows(Load(V, CORNER, INDEX, 0), first)
    assert not are_rows(Load(V, SECOND, NEXT, 0), first)
    assert not are_rows(Load(V, SECOND, TWICE, 0), AddTo(STATE, TWICE, V, 0))


def diffuse(u: cl.f64[:], steps: int, c: float) -> float:
    for _ in range(steps):
        new = u.copy()
        for i in range(1, len(u) - 1):
            new[i] = u[i] + c * (u[i - 1] - 2.0 * u[i] + u[i + 1])
        u = new
    return np.sum(u**2)


def three(u: cl.f64[:], steps: int, c: float) -> float:
    """States that take turns in three buffers."""
    x, y, z = u.copy(), 2.0 * u, u * u
    for _ in range(steps):
        new = x.copy()
        for i in range(1, len(u) - 1):
            new[i] = x[i] + c * (y[i - 1] - 2.0 * z[i] + y[i + 1])
        x, y, z = y, z, new
    return np.sum(x * x + y * z)


def perhaps(u: cl.f64[:], steps: int, c: float) -> float:
    """States that change places in some steps, or become what is from outside."""
    x, y = u.copy(), c * u
    for t in range(steps):
        new = x.copy()
        for i in range(1, len(u) - 1):
            new[i] = x[i] * y[i] + c * (u[i - 1] - 2.0 * y[i + 1] + y[i - 1])
        if t % 3 == 0:
            x, y = y, new
        elif t % 3 == 1:
            x = u
        else:
            x = new
    return np.sum(x * x * y)


def rows(u: cl.f64[:], steps: int, c: float) -> float:
    """A step of each row looks at others, and older ones."""
    h = np.zeros((steps + 1, len(u)))
    h[0, :] = u
    for t in range(steps):
        for i in range(1, len(u) - 1):
            h[t + 1, i] = h[t, i] + c * (h[t, i - 1] - 2.0 * h[t // 2, i] + h[t, i + 1])
        h[t + 1, 0] = c * h[t, 1]
    return np.sum(h[steps] ** 2)


def sweeps(u: cl.f64[:], steps: int, c: float) -> float:
    x = np.zeros(len(u))
    for _ in range(steps):
        for i in range(1, len(u) - 1, 2):
            x[i] = 0.5 * (x[i - 1] + x[i + 1] + c * u[i])
        for i in range(2, len(u) - 1, 2):
            x[i] = 0.5 * (x[i - 1] + x[i + 1] + c * u[i])
    return np.sum(x * x)


PROGRAMS: Sequence[Callable[..., Any]] = (diffuse, three, perhaps, rows, sweeps)


@pytest.mark.sweep(share=2)
@pytest.mark.parametrize("program", PROGRAMS)
def test_gradients(program: Callable[..., Any]) -> None:
    f, plain = cl.jit(program), cl.jit(program, optimize=0)
    gradient = cl.value_and_grad(f, argnums=(0, 2))
    exact = cl.value_and_grad(plain, argnums=(0, 2))
    for n in (3, FEW + 1, FEW + 2, FEW + 9, STRIP + 2, 2 * STRIP + 5):
        u = np.random.default_rng(n).normal(size=n)
        for steps in (0, 1, 2, 5):
            value, (slopes, slope) = gradient(u, steps, 0.2)
            expected, (correct, right) = exact(u, steps, 0.2)
            assert value == pytest.approx(expected, rel=1e-12)
            np.testing.assert_allclose(slopes, correct, rtol=1e-9, atol=1e-11)
            assert slope == pytest.approx(right, rel=1e-9)


def test_states_that_take_turns_are_vectors() -> None:
    gradient = cl.value_and_grad(cl.jit(diffuse))
    about = np.ones(9), 2, 0.1
    assert "strip[" in str(gradient.show("loops", *about))
    assert "vector.memcheck" not in str(gradient.show("llvm", *about))
