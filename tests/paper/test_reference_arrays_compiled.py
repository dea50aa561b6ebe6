"""§8.1's pointwise program, compiled: its gradient is one pass over the array.

No cell, no scatter and no tape are left, and neither BOne nor BPlus at the level of C.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.ir.term import (
    Apply,
    Block,
    Call,
    Close,
    Expr,
    Lambda,
    One,
    Open,
    View,
    nested,
)
from chadllvm.ops.build import Build
from chadllvm.ops.iterate import Iterate

# Asked for NaN and cut into chunks for threads, a pass is more than one loop.
WHOLE = cl.CompileOptions(disabled=frozenset({"finite", "parallel"}))


@cl.jit(options=WHOLE)
def by_index(x: cl.f64[:], w: cl.f64[:]) -> float:
    a = [math.sin(v) for v in x]
    b = [a[i] * 2.0 for i in range(len(a))]
    return sum(b[i] * w[i] for i in range(len(b)))


@cl.jit(options=WHOLE)
def by_element(x: cl.f64[:], w: cl.f64[:]) -> float:
    a = [math.sin(v) for v in x]
    b = [v * 2.0 for v in a]
    return sum(b[i] * w[i] for i in range(len(b)))


def expressions(block: Block) -> Iterator[Expr]:
    for binding in block.bindings:
        yield binding.expr
        for _, inner in nested(binding.expr):
            yield from expressions(inner)


@pytest.fixture(params=[by_index, by_element], ids=lambda f: f.py_func.__name__)
def gradient(request: pytest.FixtureRequest) -> Any:
    """The gradient by x, called, with the default options."""
    found = cl.grad(request.param)
    x, w = np.array([0.3, 1.0, -2.0]), np.array([1.0, -3.0, 0.5])
    np.testing.assert_allclose(found(x, w), 2.0 * w * np.cos(x), rtol=1e-14)
    return found


def test_the_core_is_one_build(gradient: Any) -> None:
    (version,) = gradient._versions.values()
    program = version.compilation.stages["simplified"]
    found = list(expressions(program.entry.body))
    assert not [
        e for e in found if isinstance(e, Open | One | Close | View | Lambda | Call)
    ]
    ops = [e.op for e in found if isinstance(e, Apply)]
    assert sum(isinstance(op, Build) for op in ops) == 1
    assert not any(isinstance(op, Iterate) for op in ops)


def test_the_loops_are_one_pass(gradient: Any) -> None:
    """One loop, one buffer, which is the result, and nothing is added to."""
    text = str(gradient.show("loops"))
    assert len(re.findall(r"^ *for ", text, re.MULTILINE)) == 1
    assert re.findall(r"buffer f64\[.*\] in (\w+)", text) == ["result"]
    assert "+=" not in text


def test_the_runtime_makes_no_bags(gradient: Any) -> None:
    called = set(re.findall(r"call [^@]*@(chad_\w+)", str(gradient.show("llvm"))))
    assert called <= {"chad_poll", "chad_result_alloc", "chad_result_take"}


def test_what_is_looked_for_is_found_where_it_is() -> None:
    """A sum over columns adds to cells: none of the above would pass it."""

    @cl.jit
    def scattered(x: cl.f64[:], at: cl.i64[:]) -> float:
        return sum(x[at[i]] * x[at[i]] for i in range(len(at)))

    found = cl.grad(scattered)
    found(np.ones(3), np.array([0, 2, 0, 1]))
    (version,) = found._versions.values()
    program = version.compilation.stages["simplified"]
    assert any(isinstance(e, One) for e in expressions(program.entry.body))
    assert "+=" in str(found.show("loops"))
