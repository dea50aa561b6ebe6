"""Each cell that a backpropagator opens for an array names who pays for it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from chadllvm.chad import names, reversal
from chadllvm.ir.term import Block, Var
from tests.chad.paid import found
from tests.laws import chosen_arrays, passed_arrays
from tests.laws.cost_sweep import PROGRAMS, derivatives
from tests.sweep import marks

Program = Callable[..., float]

# Arrays that are chosen in each step, in all the ways to write that.
CHOSEN: tuple[Program, ...] = (
    chosen_arrays.branches,
    chosen_arrays.state,
    chosen_arrays.state_of_while,
    chosen_arrays.parameter,
    chosen_arrays.option,
    chosen_arrays.union,
    chosen_arrays.returned,
    passed_arrays.conditional_expression,
    passed_arrays.match_numbers,
    passed_arrays.never_taken,
    passed_arrays.option_or_none,
    passed_arrays.two_lambdas,
    passed_arrays.union_each_step,
)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_every_cell_is_paid_for(program: Program) -> None:
    assert found(program) == []


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(f, id=f.__name__, marks=marks(f.__name__, 4, "payers"))
        for f in PROGRAMS
    ],
)
def test_every_cell_of_a_second_derivative_is_paid_for(program: Program) -> None:
    *_, slope = derivatives(program)
    assert found(slope) == []


@pytest.mark.parametrize("program", CHOSEN, ids=lambda f: f.__name__)
def test_cells_of_chosen_arrays_are_found(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without references, and with cells of their own for what branches choose."""

    def without_branches(block: Block) -> dict[Var, names.Name]:
        known = names.names(block).items()
        return {v: n for v, n in known if not isinstance(n, names.Branch)}

    monkeypatch.setattr(reversal, "names", without_branches)
    assert found(program, "references", "separate")
