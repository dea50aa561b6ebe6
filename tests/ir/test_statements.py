"""Walks that change statements give what they were given where nothing changes."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

import chadllvm as cl
from chadllvm.ir.loops import AddTo, Branch, For, Load, LoopFunction, Stmt, Store
from chadllvm.ir.statements import (
    Body,
    everywhere,
    over_bodies,
    over_inner,
    over_statements,
)


@cl.jit
def prefixes(x: cl.f64[:], limit: float) -> float:
    total = 0.0
    for i in range(len(x)):
        if x[i] < limit:
            for k in range(i):
                total += x[i] * x[k]
    return total


def loops_of(function: object) -> LoopFunction:
    (version,) = function._versions.values()
    return version.compilation.lowered


def compiled() -> LoopFunction:
    derivative = cl.value_and_grad(prefixes)
    derivative(np.ones(3), 3.0)
    return loops_of(derivative)


def without(kind: type, function: LoopFunction) -> LoopFunction:
    """The function without statements of a kind."""

    def body(body: Body) -> Body:
        return over_statements(body, statement)

    def statement(stmt: Stmt) -> Iterable[Stmt]:
        return [] if isinstance(stmt, kind) else [over_inner(stmt, body)]

    return over_bodies(function, body)


def test_a_walk_that_changes_nothing_gives_the_same_function() -> None:
    function = compiled()
    assert without(type(None), function) is function


def test_a_walk_reaches_what_is_inside_of_branches_and_loops() -> None:
    function = compiled()
    for kind in (For, Branch, Load):
        assert any(isinstance(stmt, kind) for stmt in everywhere(function.body))
        changed = without(kind, function)
        assert changed is not function
        assert not any(isinstance(stmt, kind) for stmt in everywhere(changed.body))


def test_what_is_beside_a_change_stays() -> None:
    function = compiled()
    changed = without(Load, function)
    kept = [s for s in everywhere(function.body) if isinstance(s, Store | AddTo)]
    assert kept == [s for s in everywhere(changed.body) if isinstance(s, Store | AddTo)]


def test_passes_that_find_nothing_to_do_are_not_effective() -> None:
    prefixes(np.ones(2), 3.0)
    (version,) = prefixes._versions.values()
    effective = version.compilation.effective
    assert "bounds" in effective
    assert not effective & {"apart", "diagonals", "interchange", "registers", "settle"}
    assert not effective & {"singles", "split_loops", "strips", "additions", "ahead"}
