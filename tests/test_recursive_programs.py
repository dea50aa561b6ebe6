"""Programs with recursive data: their values and derivatives, by all ways."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from containers import along, drawn, flattened, leaves, moved
from programs.case import RECURSIVE_CASES, Case

import chadllvm as cl
from chadllvm.driver.crossing import Crossing
from chadllvm.driver.passes import OPTIONAL
from chadllvm.driver.plan import Plan
from chadllvm.frontend import specialise
from chadllvm.ir.check import check
from chadllvm.ir.interp import Interpreter
from chadllvm.ir.parse import parse
from chadllvm.ir.pretty import pretty
from chadllvm.ir.term import Program
from chadllvm.ir.value import to_value
from chadllvm.simplify.flatten import flatten
from chadllvm.support.request import Request
from tests.program_cases import real_params

OPTIONS = {
    "default": cl.CompileOptions(),
    "plain": cl.CompileOptions(disabled=frozenset(OPTIONAL)),
    "permanent": cl.CompileOptions(optimize=0),
}
IDS = [f"{case.name}-{k}" for k, case in enumerate(RECURSIVE_CASES)]

STEP = 1e-6


def directions(case: Case) -> list[Any]:
    rng = np.random.default_rng(7)
    return [drawn(arg, rng) for arg in case.args]


@pytest.mark.sweep(share=6)
@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("case", RECURSIVE_CASES, ids=IDS)
def test_programs(case: Case, name: str) -> None:
    """The value is that of Python, both modes agree, and differences with them."""
    function = cl.jit(case.function.py_func, options=OPTIONS[name])
    expected = case.plain_value()
    np.testing.assert_allclose(function(*case.args), expected, rtol=1e-12)
    params, moves = real_params(case), directions(case)
    if not params:
        return
    value, gradient = cl.value_and_grad(function, argnums=params)(*case.args)
    np.testing.assert_allclose(value, expected, rtol=1e-12)
    out, slope = cl.jvp(function, case.args, moves)
    np.testing.assert_allclose(out, expected, rtol=1e-12)
    found = sum(along(g, moves[k]) for k, g in zip(params, gradient, strict=True))
    np.testing.assert_allclose(found, slope, rtol=1e-11, atol=1e-13)
    sides = (
        case.function.py_func(
            *(moved(a, d, s) for a, d in zip(case.args, moves, strict=True))
        )
        for s in (STEP, -STEP)
    )
    above, below = sides
    np.testing.assert_allclose((above - below) / (2 * STEP), slope, rtol=1e-5)


@pytest.mark.sweep
@pytest.mark.parametrize("case", RECURSIVE_CASES, ids=IDS)
def test_second_derivatives(case: Case) -> None:
    """The tangent of the gradient is its slope."""
    params, moves = real_params(case), directions(case)
    if not params:
        return
    gradient = cl.grad(case.function, argnums=params)
    out, found = cl.jvp(gradient, case.args, moves)
    np.testing.assert_allclose(leaves(out), leaves(gradient(*case.args)), rtol=1e-12)
    above, below = (
        np.array(
            leaves(
                gradient(
                    *(moved(a, d, s) for a, d in zip(case.args, moves, strict=True))
                )
            )
        )
        for s in (STEP, -STEP)
    )
    slope = (above - below) / (2 * STEP)
    np.testing.assert_allclose(np.array(leaves(found)), slope, rtol=1e-4, atol=1e-6)


# ---- the interpreter -------------------------------------------------------------


def interpreted(case: Case, request: Request) -> tuple[Program, list[Any], Plan]:
    """The program as it comes from the frontend, with its flat arguments."""
    types = [p.annotation for p in case.function.parameters]
    plan = Plan(specialise(case.function.py_func, types), types, request)
    assert plan.boundary is not None
    program = flatten(plan.program)
    if case.has_derivatives:
        program = plan.compile(OPTIONS["plain"]).stages["chad"]
    native = Crossing(plan.boundary, request, print).enter(case.args).native
    flat = [
        leaf
        for arg, ty in zip(native, plan.types, strict=True)
        for leaf in flattened(arg, ty)
    ]
    pairs = zip(flat, program.entry.params, strict=True)
    return program, [to_value(arg, p.type) for arg, p in pairs], plan


@pytest.mark.parametrize("case", RECURSIVE_CASES, ids=IDS)
def test_the_interpreter_gives_the_same(case: Case) -> None:
    program, args, _ = interpreted(case, Request())
    check(program, after="flatten")
    found, *_ = Interpreter(program).run(*args)
    np.testing.assert_allclose(found, case.plain_value(), rtol=1e-12)
    again = parse(pretty(program))
    np.testing.assert_allclose(Interpreter(again).run(*args)[0], found, rtol=1e-15)
