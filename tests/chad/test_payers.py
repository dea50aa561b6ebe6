"""Each cell that a backpropagator opens for an array names who pays for it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from programs.case import Case

from chadllvm.chad import names, reversal
from chadllvm.driver import pipeline
from chadllvm.ir.term import Block, Var
from chadllvm.support.diagnostic import InternalError
from tests.chad.paid import found, found_in
from tests.laws import chosen_arrays, passed_arrays
from tests.laws.cost_sweep import PROGRAMS, derivatives
from tests.program_cases import REAL_CASES
from tests.sweep import marks, swept

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


@pytest.mark.sweep(share=3)
@pytest.mark.parametrize("case", swept(REAL_CASES, 8, "payers"))
def test_every_cell_of_the_corpus_is_paid_for(case: Case) -> None:
    assert found_in(case) == []


@pytest.mark.parametrize("case", swept(REAL_CASES, 24, "payers"))
def test_every_cell_of_second_derivatives_of_the_corpus_is_paid_for(case: Case) -> None:
    assert found_in(case, order=2) == []


@pytest.mark.sweep(share=4)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_every_cell_is_paid_for(program: Program) -> None:
    assert found(program) == []


@pytest.mark.sweep
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


def without_branches(block: Block) -> dict[Var, names.Name]:
    """A cell of its own for what branches choose."""
    known = names.names(block).items()
    return {v: n for v, n in known if not isinstance(n, names.Branch)}


@pytest.mark.parametrize("program", CHOSEN, ids=lambda f: f.__name__)
def test_cells_of_chosen_arrays_are_found(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without references, and with cells of their own for what branches choose."""
    monkeypatch.setattr(reversal, "names", without_branches)
    assert found(program, "references", "separate")


@pytest.mark.parametrize("program", CHOSEN, ids=lambda f: f.__name__)
def test_the_checker_refuses_cells_that_nobody_pays_for(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same in the compiler with all else that it does, if that is asked for."""
    assert found(program, cost_law=True) == []
    monkeypatch.setattr(reversal, "names", without_branches)
    left = {"references", "separate"}
    for passes in ("SOURCE", "PRIMAL", "APART"):
        kept = [p for p in getattr(pipeline, passes) if p[0] not in left]
        monkeypatch.setattr(pipeline, passes, tuple(kept))
    assert found(program)
    with pytest.raises(InternalError, match="nobody pays for the cell of"):
        found(program, cost_law=True)
