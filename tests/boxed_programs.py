"""Runs programs of the core in the permanent mode, beside the interpreter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from chadllvm.backend.call import NativeFunction
from chadllvm.ir.check import check
from chadllvm.ir.interp import evaluate
from chadllvm.ir.loops_check import check_loops
from chadllvm.ir.parse import parse
from chadllvm.ir.term import Program
from chadllvm.ir.types import Product
from chadllvm.llvm.optimize import Effort
from chadllvm.lower.boxed.lower import lower_boxed

CHEAP = Effort(1, 0, loops=False)

VECTOR = np.array([0.5, -1.5, 2.0])
MATRIX = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


def native(program: Program) -> NativeFunction:
    loops = lower_boxed(program.entry)
    check_loops(loops)
    params, result = program.entry.params, Product(program.entry.body.types)
    names = [f"p{k}" for k in range(len(params))]
    return NativeFunction(
        loops, "main", names, [p.type for p in params], result, effort=CHEAP
    )


def agrees(text: str, *calls: tuple[Any, ...]) -> None:
    """Machine code gives what the interpreter does, for all these arguments."""
    program = parse(text)
    check(program)
    run = native(program)
    single = len(program.entry.body.results) == 1
    for args in calls:
        expected = evaluate(program, *args)
        expected = (expected,) if single else expected
        same_results(run(*args), expected)


def same_results(found: Sequence[Any], expected: Sequence[Any]) -> None:
    """The same types and shapes, and the same numbers up to rounding."""
    for a, b in zip(found, expected, strict=True):
        assert np.shape(a) == np.shape(b)
        assert np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
