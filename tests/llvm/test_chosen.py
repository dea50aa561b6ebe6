"""What is chosen or not is stored as a vector, not element by element."""

from __future__ import annotations

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.ir.loops import PTR, Let, Load, Reg, Store
from chadllvm.ir.term import Lit
from chadllvm.ir.types import BOOL, F64
from chadllvm.llvm.chosen import chosen

pytestmark = pytest.mark.optimised

P, X, Y, Z = Reg("p", PTR), Reg("x", F64), Reg("y", F64), Reg("z", F64)
READ = Load(X, P, Lit(0), 0)
CHOICE = Let(Z, "select", (Reg("c", BOOL), Y, X))


def test_what_may_be_stored_again() -> None:
    store = Store(P, Lit(0), Z, 0)
    assert chosen([READ, CHOICE, store]) == {X}
    assert not chosen([READ, CHOICE, Store(P, Lit(0), Z, 1)])
    assert not chosen([READ, CHOICE, Store(P, Lit(0), X, 0)])
    assert not chosen([CHOICE, store])


def highest(x: cl.f64[:, :]) -> float:
    """The sum of the greatest element of each column."""
    most = np.zeros(x.shape[1])
    for i in range(len(x)):
        for j in range(x.shape[1]):
            most[j] = max(most[j], x[i, j])
    return np.sum(most)


def test_greatest() -> None:
    x = np.random.default_rng(0).uniform(size=(5, 37))
    value = cl.jit(highest)
    assert value(x) == pytest.approx(np.sum(np.max(x, axis=0)), rel=1e-14)
    assert "freeze" in str(value.show("llvm"))
    expected = (x == np.max(x, axis=0)).astype(float)
    np.testing.assert_array_equal(cl.grad(value)(x), expected)
