"""Loops that become several give what they gave, and fail at the same step."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, cast

import numpy as np
import pytest
from golden_cases import check_cases

import chadllvm as cl
from chadllvm.ir.loops import (
    Accumulate,
    Atom,
    For,
    Get,
    Let,
    LoopFunction,
    Reg,
    ScalarParam,
    Set,
    Slot,
    Stmt,
)
from chadllvm.ir.loops_check import check_loops
from chadllvm.ir.loops_pretty import pretty_loops
from chadllvm.ir.term import Lit, Program
from chadllvm.ir.types import F64, I64
from chadllvm.lower.distribute import distribute
from chadllvm.lower.lower import lower_function

pytestmark = pytest.mark.optimised

STRIP = "local f64[32]"


def test_golden(golden: Callable[[Path, str], None]) -> None:
    def run(title: str, program: Program) -> str:
        function = distribute(lower_function(program.entry))
        check_loops(function)
        return pretty_loops(function)

    check_cases(Path(__file__).with_name("distribute.cases"), run, golden)


def logistic(x: cl.f64[:, :], w: cl.f64[:], y: cl.f64[:]) -> float:
    total = 0.0
    for i in range(len(x)):
        z = 0.0
        for j in range(len(w)):
            z += x[i, j] * w[j]
        total += math.log1p(math.exp(-abs(z))) + max(z, 0.0) - y[i] * z
    return total


def kernel(x: cl.f64[:, :], w: cl.f64[:], y: cl.f64[:]) -> float:
    """The square is there twice, and a truth goes from part to part."""
    total = 0.0
    for i in range(len(x)):
        far = np.sum((x[i] - w) ** 2)
        near = math.exp(-far) if far < 30.0 else math.sin(y[i])
        total += near * np.sum(x[i] * w) + math.cos(far) * math.exp(-0.1 * far)
    return total


def units(x: cl.f64[:, :], w: cl.f64[:], y: cl.f64[:]) -> float:
    """A layer, whose units are an array of each sample's own."""
    total = 0.0
    for i in range(len(x)):
        hidden = [math.tanh(np.sum(x[i] * w) * v) for v in w]
        total += math.erf(sum(hidden) - y[i])
    return total


def checked(x: cl.f64[:, :], w: cl.f64[:], y: cl.f64[:]) -> float:
    """Steps that fail, some in front of the calls and some behind them."""
    total = 0.0
    for i in range(len(x)):
        z = np.sum(x[i] * w)
        if z > 1e3:
            raise ValueError(f"large {i}")
        e = math.atan(z)
        if y[i] > 1e3:
            raise KeyError(f"bad {i}")
        total += e * np.sum(x[i] ** 2)
    return total


def places(x: cl.f64[:, :], w: cl.f64[:], y: cl.f64[:]) -> float:
    """Numbers and places are looked up in one part, and used in another."""
    total = 0.0
    for i in range(len(x)):
        k = int(abs(y[i]) * 7.0) % len(x)
        z = np.sum(x[k] * w)
        e = math.exp(math.sin(z) + 0.1 * y[k])
        total += np.sum(x[k] * e + w)
    return total


PROGRAMS = [logistic, kernel, units, checked, places]


def problem(steps: int, terms: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng([steps, terms])
    x, w = rng.normal(size=(steps, terms)), rng.normal(size=terms) / (terms or 1)
    return x, w, rng.normal(size=steps)


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_length(program: Any) -> None:
    quick, plain = (
        cl.value_and_grad(cl.jit(program, **options), argnums=(0, 1, 2))
        for options in ({}, {"optimize": 0})
    )
    for steps in (0, 1, 31, 32, 33, 70):
        for terms in (1, 17, 40):
            args = problem(steps, terms)
            value, slopes = quick(*args)
            expected, wanted = plain(*args)
            assert value == pytest.approx(expected, rel=1e-12, abs=1e-12)
            for slope, right in zip(slopes, wanted, strict=True):
                np.testing.assert_allclose(slope, right, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("program", [logistic, kernel, places])
def test_loops_are_distributed(program: Any) -> None:
    gradient = cl.value_and_grad(cl.jit(program), argnums=(0, 1))
    assert STRIP in str(gradient.show("loops"))


def test_the_first_error_in_order() -> None:
    x, w, y = problem(70, 20)
    x[:], w[:] = 0.0, 1.0
    late, early = x.copy(), y.copy()
    late[40], early[39] = 1e3, 1e4
    both = late.copy()
    both[39] = 1e3
    for call in (cl.jit(checked), cl.grad(cl.jit(checked))):
        with pytest.raises(KeyError, match="bad 39"):
            call(late, w, early)
        with pytest.raises(ValueError, match="large 39"):
            call(both, w, early)


def chain(groups: int) -> LoopFunction:
    """Inner loops and exponentials in turns, each of which needs the one before."""
    n, last = Reg("n", I64), cast(Atom, Lit(1.0))
    body: list[Stmt] = []
    for _ in range(groups):
        slot, total, number = Slot("z", F64), Reg("y", F64), Reg("e", F64)
        inner = For(Reg("j", I64), Lit(0), n, (Accumulate(slot, last),))
        body += [Set(slot, Lit(0.0)), inner, Get(total, slot)]
        body += [Let(number, "exp", (total,))]
        last = number
    loop = For(Reg("i", I64), Lit(0), n, tuple(body), commutes=True)
    return LoopFunction("f", (ScalarParam(n),), (), (loop,), 0, ())


def lines_for(function: LoopFunction) -> int:
    """How many lines are run to distribute the loops of a function."""
    count = 0

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal count
        count += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        assert distribute(function) is not function
    finally:
        sys.settrace(before)
    return count


def test_work_is_linear() -> None:
    assert lines_for(chain(30)) <= 2.2 * lines_for(chain(15))


def test_little_is_kept() -> None:
    """What is kept is on the stack."""
    assert distribute(loops := chain(40)) is loops
