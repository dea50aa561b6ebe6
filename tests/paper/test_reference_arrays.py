"""The paper's forms on arrays: they agree with each other and with the compiler."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings

from chadllvm.ir.op import ProgramError
from chadllvm.ir.rewrite import with_body
from chadllvm.ir.term import Block, Program
from chadllvm.paper.array_linear import sparse_arrays
from chadllvm.paper.monad import ArrayMonad
from chadllvm.paper.recognise import gathered
from tests.array_reference import (
    Example,
    agree,
    compiled,
    derivatives_are_well_typed,
    monadic,
    value_of,
)
from tests.array_strategies import array_cases
from tests.strategies import Case, cases
from tests.sum_strategies import sum_cases
from tests.sweep import part

EXAMPLES = settings(
    max_examples=part(50, 4),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.large_base_example],
)


@pytest.mark.sweep
@EXAMPLES
@given(cases(size=8) | sum_cases())
def test_random_programs(case: Case) -> None:
    agree(case.program, case.args)
    derivatives_are_well_typed(Example.of(case.program, case.args))


def single(program: Program) -> Program:
    """The program with its first result only."""
    body = program.entry.body
    entry = with_body(program.entry, Block(body.bindings, body.results[:1]))
    return Program((*program.functions[:-1], entry))


def gathers_agree(example: Example) -> None:
    """With builds that gather recognised, the cotangents are the same."""
    rewritten = replace(example, term=gathered(example.term))
    sparse = sparse_arrays()
    run = monadic(ArrayMonad(sparse))
    first, second = (
        example.numbers(sparse, run(e, 1.0).cotangents) for e in (example, rewritten)
    )
    assert second == pytest.approx(first, rel=1e-9, abs=1e-9 * scale(first))


def scale(numbers: Sequence[float]) -> float:
    return max([1.0, *map(abs, numbers)])


@pytest.mark.sweep
@EXAMPLES
@given(array_cases())
def test_random_programs_over_arrays(case: Case) -> None:
    program = single(case.program)
    try:
        compiled(program, case.args)
    except ProgramError as error:
        with pytest.raises(ProgramError) as found:
            value_of(Example.of(program, case.args))
        assert found.value.kind is error.kind
        return
    agree(program, case.args)
    example = Example.of(program, case.args)
    derivatives_are_well_typed(example)
    gathers_agree(example)
