"""What rows say of operations, against what these do."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import chadllvm.ops  # noqa: F401  (enters the operations)
from chadllvm.ir.op import INSTRUCTIONS, PRIMS, Prim, ProgramError, Speculation
from chadllvm.ir.types import BOOL, F64, I64, is_float
from chadllvm.ops.scalar.row import pages

PAGE = Path(__file__).parents[2] / "docs" / "functions.md"
VALUES: dict[Any, tuple[Any, ...]] = {
    F64: (0.0, 0.25, 1.0, -1.5, 3.0, math.inf, -math.inf),
    I64: (0, 1, 2, -1),
    BOOL: (False, True),
}
OF_FLOATS = [
    prim
    for prim in PRIMS.values()
    if is_float(prim.result) and F64 in prim.params and prim.name != "narrow"
]


def run(prim: Prim, args: tuple[Any, ...]) -> float:
    try:
        return float(prim.meaning(*args))
    except ProgramError:
        return math.nan


def changed(prim: Prim, new: float) -> Iterator[tuple[tuple[Any, ...], int]]:
    """Arguments, of which one float is this."""
    for args in itertools.product(*(VALUES[ty] for ty in prim.params)):
        for k, ty in enumerate(prim.params):
            if ty == F64:
                yield (*args[:k], new, *args[k + 1 :]), k


def hides(prim: Prim) -> bool:
    """Whether a NaN is not seen, or the sign of a zero is, in more than a zero."""
    if any(not math.isnan(run(prim, args)) for args, _ in changed(prim, math.nan)):
        return True
    for args, k in changed(prim, 0.0):
        plus, minus = (
            run(prim, (*args[:k], zero, *args[k + 1 :])) for zero in (0.0, -0.0)
        )
        if plus != minus and not (math.isnan(plus) and math.isnan(minus)):
            return True
    return False


@pytest.mark.parametrize("prim", OF_FLOATS, ids=lambda prim: prim.name)
def test_strictness(prim: Prim) -> None:
    assert prim.is_strict is not hides(prim)


@pytest.mark.parametrize("prim", PRIMS.values(), ids=lambda prim: prim.name)
def test_checks_fit(prim: Prim) -> None:
    """A check takes the arguments, or these and the result."""
    if prim.check:
        params = PRIMS[prim.check].params
        assert params in (prim.params, (*prim.params, prim.result))


def test_names_are_python_s() -> None:
    for prim in PRIMS.values():
        for name in prim.names:
            module, _, attribute = name.rpartition(".")
            assert callable(getattr(import_module(module), attribute))


def test_functions_with_names_are_on_the_page() -> None:
    named = {prim.name for prim in PRIMS.values() if prim.names}
    assert named <= {prim.name for prim in PRIMS.values() if prim.page}
    text = PAGE.read_text(encoding="utf-8").splitlines()
    assert [line for line in pages(list(PRIMS.values())) if line not in text] == []


@pytest.mark.parametrize("name", INSTRUCTIONS)
def test_instructions_are_consistent(name: str) -> None:
    code = INSTRUCTIONS[name]
    assert code.cycles >= 1 and code.latency >= 1
    if code.most:
        assert code.most > code.cycles
    if code.symbol or not code.has_vectors:
        assert code.speculation < Speculation.CHEAP


def test_an_operation_costs_what_its_instructions_do() -> None:
    for name in ("exp", "div", "polygamma", "flt"):
        assert PRIMS[name].cycles == INSTRUCTIONS[name].cycles
    parts = ("exp", "neg", "abs", "flt", "select", "add", "div")
    assert PRIMS["expit"].cycles == sum(INSTRUCTIONS[op].cycles for op in parts)
    # Repeated squaring over 63 bits.
    assert PRIMS["ipow"].cycles > 63 * INSTRUCTIONS["irem"].cycles
