"""Forward mode: against reverse mode and differences, and on top of reverse mode."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from containers import leaves, moved
from golden_cases import check_cases
from hypothesis import given
from programs.case import Case as ProgramCase

import chadllvm as cl
from chadllvm.chad.forward import push_forward
from chadllvm.closure.convert import convert_closures
from chadllvm.driver.pipeline import Compilation
from chadllvm.ir.check import check
from chadllvm.ir.interp import Interpreter
from chadllvm.ir.op import ProgramError
from chadllvm.ir.parse import parse
from chadllvm.ir.pretty import pretty
from chadllvm.ir.term import Program
from chadllvm.ir.types import has_float
from chadllvm.ir.value import ArrayValue, to_value
from tests.array_strategies import array_cases
from tests.chad.test_random_programs import EXAMPLES, numbers, prepared
from tests.program_cases import CASES, real_params, tangents_of
from tests.strategies import Case, cases
from tests.sweep import swept

STEP = 1e-6
LARGEST_RATIO = 3.0

# Programs whose gradient jumps at their arguments.
NO_SECOND_SLOPE = (
    *("untaken_branch", "unused_element", "norm_at_the_origin"),
    # One step of Newton's behind a bisection has the slope of the root, not more.
    "polished_root",
)


def with_tangents(program: Program, wrt: list[int]) -> Program:
    customs = Compilation(cl.CompileOptions()).customs
    new = Program((push_forward(program.entry, wrt, customs),))
    check(new, after="forward")
    return new


def directions(values: list[Any], wrt: list[int]) -> list[Any]:
    """Random tangents for the arguments in `wrt`."""
    random = np.random.default_rng(5)
    found: list[Any] = []
    for k in wrt:
        data = random.normal(size=len(numbers(values[k]))).tolist()
        is_array = isinstance(values[k], ArrayValue)
        found.append(ArrayValue(values[k].shape, data) if is_array else data[0])
    return found


def displaced(
    values: list[Any], wrt: list[int], ts: list[Any], step: float
) -> list[Any]:
    """The arguments moved along their tangents."""
    new = list(values)
    for k, t in zip(wrt, ts, strict=True):
        pairs = zip(numbers(values[k]), numbers(t), strict=True)
        data = [x + step * d for x, d in pairs]
        is_array = isinstance(t, ArrayValue)
        new[k] = ArrayValue(t.shape, data) if is_array else data[0]
    return new


def dot(xs: list[Any], ys: list[Any]) -> float:
    pairs = zip(xs, ys, strict=True)
    return sum(
        x * y for a, b in pairs for x, y in zip(numbers(a), numbers(b), strict=True)
    )


def check_differences(
    program: Program, values: list[Any], wrt: list[int], ts: list[Any], found: list[Any]
) -> None:
    """The tangents of the results that hold reals are the slopes along `ts`."""
    ends = [
        Interpreter(program).run(*displaced(values, wrt, ts, step))
        for step in (STEP, -STEP)
    ]
    real = [k for k, ty in enumerate(program.entry.body.types) if has_float(ty)]
    for k, tangent in zip(real, found, strict=True):
        above, below = (numbers(end[k]) for end in ends)
        assert len(numbers(tangent)) == len(above) == len(below)
        for x, y, slope in zip(above, below, numbers(tangent), strict=True):
            assert slope == pytest.approx((x - y) / (2 * STEP), rel=1e-6, abs=1e-6)


# ---- random programs -------------------------------------------------------------


@EXAMPLES
@given(cases())
def test_both_modes_agree(case: Case) -> None:
    program, gradient, wrt, values = prepared(case)
    ts = directions(values, wrt)
    value, tangent = Interpreter(with_tangents(program, wrt)).run(*values, *ts)
    primal, *cts = Interpreter(gradient).run(*values)
    assert value == primal
    assert tangent == pytest.approx(dot(cts, ts), rel=1e-10, abs=1e-10)


@EXAMPLES
@given(array_cases())
def test_tangents_of_all_results(case: Case) -> None:
    program, gradient, wrt, values = prepared(case)
    ts = directions(values, wrt)
    try:
        expected = Interpreter(program).run(*values)
    except ProgramError as failure:
        with pytest.raises(ProgramError, match=re.escape(str(failure))):
            Interpreter(with_tangents(program, wrt)).run(*values, *ts)
        return
    results = Interpreter(with_tangents(program, wrt)).run(*values, *ts)
    found = list(results[len(expected) :])
    assert results[: len(expected)] == expected
    cts = Interpreter(gradient).run(*values)[len(expected) :]
    assert found[0] == pytest.approx(dot(list(cts), ts), rel=1e-9, abs=1e-9)


@EXAMPLES
@given(cases(single=False))
def test_tangents_agree_with_differences(case: Case) -> None:
    program, _, wrt, values = prepared(case)
    ts = directions(values, wrt)
    results = Interpreter(with_tangents(program, wrt)).run(*values, *ts)
    found = list(results[len(program.entry.body.results) :])
    check_differences(program, values, wrt, ts, found)


@EXAMPLES
@given(cases(size=20))
def test_the_cost_law_holds(case: Case) -> None:
    program, _, wrt, values = prepared(case)
    primal, both = Interpreter(program), Interpreter(with_tangents(program, wrt))
    primal.run(*values)
    both.run(*values, *directions(values, wrt))
    size = sum(len(numbers(v)) for v in values)
    assert both.cost <= LARGEST_RATIO * primal.cost + size


@EXAMPLES
@given(cases(size=8))
def test_forward_over_reverse(case: Case) -> None:
    _, gradient, wrt, values = prepared(case)
    gradient = convert_closures(gradient)
    ts = directions(values, wrt)
    results = Interpreter(with_tangents(gradient, wrt)).run(*values, *ts)
    found = list(results[len(gradient.entry.body.results) :])
    check_differences(gradient, values, wrt, ts, found)


@EXAMPLES
@given(cases(size=6))
def test_forward_over_forward(case: Case) -> None:
    program, _, wrt, values = prepared(case)
    ts = directions(values, wrt)
    once = with_tangents(program, wrt)
    twice = with_tangents(once, wrt)
    results = Interpreter(twice).run(*values, *ts, *ts)
    check_differences(once, [*values, *ts], wrt, ts, list(results[2:]))


# ---- the corpus ------------------------------------------------------------------


@pytest.mark.sweep
@pytest.mark.parametrize("case", swept(CASES, 8, "forward over reverse"))
def test_machine_code_of_forward_over_reverse(case: ProgramCase) -> None:
    """The Hessian times a direction is the difference of gradients along it."""
    params = real_params(case)
    if not (params and case.is_smooth) or case.name in NO_SECOND_SLOPE:
        return
    gradient = cl.grad(case.function, argnums=params)
    ts = tangents_of(case)
    _, found = cl.jvp(gradient, case.args, ts)
    args = [
        tuple(moved(a, t, step) for a, t in zip(case.args, ts, strict=True))
        for step in (STEP, -STEP)
    ]
    above, below = (leaves(gradient(*each)) for each in args)
    for x, y, tangent in zip(above, below, leaves(found), strict=True):
        slope = (x - y) / (2 * STEP)
        np.testing.assert_allclose(tangent, slope, rtol=1e-5, atol=1e-5)


# ---- places of their own ---------------------------------------------------------


def test_golden(golden: Callable[[Path, str], None]) -> None:
    def run(title: str, program: Program) -> str:
        params = program.entry.params
        return pretty(
            with_tangents(
                program, [k for k, p in enumerate(params) if has_float(p.type)]
            )
        )

    check_cases(Path(__file__).with_name("forward.cases"), run, golden)


def test_zeros_for_an_array_that_is_only_named_cost_nothing() -> None:
    """A row of an inactive table is chosen in every step: no zeros are made of it."""
    program = parse(
        """
        def main(x: f64[:], table: f64[:, :], n: i64) {
          s = fold[add](n) { i ->
            c = ieq(i, 0)
            row = index(table, i)
            v = if c { yield x } else { yield row }
            y = index(v, 0)
            yield y
          }
          return s
        }
        """
    )
    costs = []
    for width in (1, 100):
        x, table = np.ones(width), np.ones((50, width))
        types = [p.type for p in program.entry.params]
        pairs = zip((x, table, 50), types, strict=True)
        values = [to_value(a, ty) for a, ty in pairs]
        run = Interpreter(with_tangents(program, [0]))
        assert run.run(*values, values[0]) == (50.0, 1.0)
        costs.append(run.cost - 50 * width)
    assert costs[0] == costs[1]


@cl.jit
def last_of(x: float, n: int) -> float:
    s = x
    for _ in range(n):
        s = 2.0
    return s


def test_a_loop_of_no_steps_gives_the_initial_state() -> None:
    for n, slope in ((0, 1.0), (3, 0.0)):
        assert cl.jvp(last_of, (5.0, n), (1.0, None))[1] == slope
        assert cl.grad(last_of)(5.0, n) == slope


@cl.jit
def roots(x: cl.f64[:]) -> float:
    return sum(math.sqrt(v) for v in x)


def test_what_is_held_fixed_contributes_nothing() -> None:
    x = np.array([4.0, 0.0])
    assert cl.jvp(roots, (x,), (np.array([1.0, 0.0]),)) == (2.0, 0.25)
    assert cl.jvp(roots, (x,), (np.array([1.0, 1.0]),)) == (2.0, math.inf)


@cl.jit
def first_root(x: cl.f64[:]) -> float:
    ys = [math.sqrt(v) for v in x]
    return ys[0] * ys[0] * ys[0]


def test_unused_elements_stay_out_of_second_derivatives() -> None:
    x, t = np.array([4.0, 0.0]), np.array([1.0, 1.0])
    gradient, slope = cl.jvp(cl.grad(first_root), (x,), (t,))
    np.testing.assert_allclose(gradient, [3.0, 0.0])
    np.testing.assert_allclose(slope, [0.375, 0.0])


def test_all_columns_of_a_jacobian() -> None:
    @cl.jit
    def spherical(p: cl.f64[:]):
        r, a, b = p[0], p[1], p[2]
        s = r * math.sin(a)
        return s * math.cos(b), s * math.sin(b), r * math.cos(a)

    p = np.array([2.0, 0.5, 0.3])
    columns = [cl.jvp(spherical, (p,), (e,))[1] for e in np.eye(3)]
    determinant = np.linalg.det(np.array(columns))
    assert determinant == pytest.approx(4.0 * math.sin(0.5))
    products = [np.dot(a, b) for a, b in itertools.combinations(columns, 2)]
    np.testing.assert_allclose(products, 0.0, atol=1e-14)
