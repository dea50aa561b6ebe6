"""Reverse mode on top of reverse mode: D[·] applied to programs with cells.

The oracle is forward mode on top of reverse mode, which is exact, and the differences
of gradients. What the second derivative costs is measured against the first.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from golden_cases import check_cases
from hypothesis import given

from chadllvm.chad.gradient import pull_back
from chadllvm.ir.check import check
from chadllvm.ir.interp import Interpreter
from chadllvm.ir.op import PRIMS, ProgramError
from chadllvm.ir.parse import parse
from chadllvm.ir.pretty import pretty
from chadllvm.ir.term import Program
from chadllvm.ir.types import F64, has_float
from chadllvm.ir.value import ArrayValue, to_value
from chadllvm.support.diagnostic import InternalError
from tests.array_strategies import array_cases
from tests.chad.test_forward import directions, displaced, dot, with_tangents
from tests.chad.test_random_programs import EXAMPLES, numbers, prepared
from tests.second_order import (
    Order,
    gradient_of,
)
from tests.strategies import Case, cases
from tests.sum_strategies import sum_cases

STEP = 1e-6
# Above the largest ratio of second to first derivative that random programs meet.
LARGEST_RATIO = 6.0

SOME = type(EXAMPLES)(EXAMPLES, max_examples=30)
FEW = type(EXAMPLES)(EXAMPLES, max_examples=15)

Values = list[Any]


def orders(case: Case) -> tuple[Order, Values]:
    """The gradient of a random program, and arguments for it."""
    program, _, wrt, values = prepared(case)
    return gradient_of(program, wrt), values


def changed(values: Values, change: Callable[[float], float]) -> Values:
    """Other cotangents of the same shapes."""
    return [
        ArrayValue(v.shape, list(map(change, v.data)))
        if isinstance(v, ArrayValue)
        else change(v)
        for v in values
    ]


def derivatives(found: Order, args: Values) -> Values:
    return list(Interpreter(found.program).run(*args)[-len(found.wrt) :])


def close(found: Values, expected: Values, tolerance: float) -> None:
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(
            numbers(a), numbers(b), rtol=tolerance, atol=tolerance
        )


def failure(found: Order, args: Values) -> tuple[type[Exception], str] | None:
    """How the program fails, if it does."""
    try:
        Interpreter(found.program).run(*args)
    except ProgramError as error:
        return error.kind, str(error)
    return None


def check_against_forward(first: Order, values: Values) -> None:
    """The Hessian times w, by rows, is the tangent of the gradient along w."""
    ws = directions(values, list(first.wrt))
    found = derivatives(first.next, [*values, *ws])
    moving = with_tangents(first.program, list(first.wrt))
    tangents = Interpreter(moving).run(*values, *ws)
    close(found, list(tangents[-len(first.wrt) :]), 1e-9)


# ---- random programs -------------------------------------------------------------


@EXAMPLES
@given(cases(single=False) | sum_cases())
def test_second_derivatives_agree_with_forward_mode(case: Case) -> None:
    check_against_forward(*orders(case))


@pytest.mark.sweep
@SOME
@given(array_cases())
def test_second_derivatives_over_arrays(case: Case) -> None:
    first, values = orders(case)
    failed = failure(first, values)
    if failed is None:
        check_against_forward(first, values)
    else:
        ws = directions(values, list(first.wrt))
        assert failure(first.next, [*values, *ws]) == failed


@SOME
@given(cases(single=False))
def test_second_derivatives_agree_with_differences(case: Case) -> None:
    first, values = orders(case)
    wrt = list(first.wrt)
    ws = directions(values, wrt)
    found = derivatives(first.next, [*values, *ws])
    above, below = (
        derivatives(first, displaced(values, wrt, ws, step)) for step in (STEP, -STEP)
    )
    for slope, a, b in zip(found, above, below, strict=True):
        ends = np.array(numbers(a)), np.array(numbers(b))
        expected = (ends[0] - ends[1]) / (2 * STEP)
        np.testing.assert_allclose(numbers(slope), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.sweep
@FEW
@given(cases(single=False, size=6) | array_cases())
def test_third_derivatives_agree_with_forward_mode(case: Case) -> None:
    first, values = orders(case)
    if failure(first, values):
        return
    second, wrt = first.next, list(first.wrt)
    ws = directions(values, wrt)
    vs, ts = changed(ws, lambda w: w * w - 0.3), changed(ws, lambda w: math.sin(3 * w))
    found = derivatives(second.next, [*values, *ws, *vs])
    moving = with_tangents(second.program, wrt)
    tangents = list(Interpreter(moving).run(*values, *ws, *ts)[-len(wrt) :])
    expected = dot(vs, tangents)
    assert dot(found, ts) == pytest.approx(expected, rel=1e-9, abs=1e-9, nan_ok=True)


@SOME
@given(cases(single=False) | array_cases())
def test_cotangents_of_all_results(case: Case) -> None:
    """The transposed derivative of a function is the adjoint of its tangents."""
    program, _, wrt, values = prepared(case)
    entry = program.entry
    real = [k for k, r in enumerate(entry.body.results) if has_float(r.type)]
    ts = directions(values, wrt)
    try:
        results = Interpreter(with_tangents(program, wrt)).run(*values, *ts)
    except ProgramError:
        return
    count = len(entry.body.results)
    cts = directions(list(results), real)
    both = Program((pull_back(entry, wrt, real),))
    check(both, after="chad")
    found = list(Interpreter(both).run(*values, *cts)[count:])
    expected = dot(cts, list(results[count:]))
    assert dot(found, ts) == pytest.approx(expected, rel=1e-9, abs=1e-9, nan_ok=True)


@SOME
@given(cases(size=20) | array_cases())
def test_the_cost_law_holds_again(case: Case) -> None:
    first, values = orders(case)
    if failure(first, values):
        return
    ws = directions(values, list(first.wrt))
    once, twice = Interpreter(first.program), Interpreter(first.next.program)
    once.run(*values)
    twice.run(*values, *ws)
    size = sum(len(numbers(v)) for v in values)
    assert twice.cost <= LARGEST_RATIO * (once.cost + size)


# ---- cost ------------------------------------------------------------------------

LOOPS = {
    "state": """
        def main(x: f64[:], n: i64) {
          a = index(x, 0)
          s = iterate(n, a) { i, t: f64 ->
            u = sin(t)
            v = mul(u, a)
            yield v
          }
          return s
        }
    """,
    "states that are arrays": """
        def main(x: f64[:], n: i64) {
          a = index(x, 0)
          s = iterate(n, x) { i, t: f64[:] ->
            r = build(3) { j ->
              e = index(t, j)
              u = sin(e)
              v = mul(u, a)
              yield v
            }
            yield r
          }
          r = index(s, 1)
          return r
        }
    """,
    "rows of different lengths": """
        def main(x: f64[:], n: i64) {
          r = fold[add](n) { i ->
            k = imod(i, 4)
            row = build(k) { j ->
              a = index(x, j)
              p = powi(a, i)
              s = sin(p)
              yield s
            }
            c = ilt(1, k)
            y = if c {
              t = fold[min](k) { j ->
                a = index(row, j)
                b = mul(a, a)
                yield b
              }
              yield t
            } else {
              yield 0.5
            }
            yield y
          }
          return r
        }
    """,
    "an element of a table": """
        def main(x: f64[:], n: i64) {
          table = build(n) { i ->
            k = imod(i, 3)
            a = index(x, k)
            b = exp(a)
            yield b
          }
          r = fold[add](n) { i ->
            t = imul(i, i)
            k = imod(t, n)
            a = index(table, k)
            b = mul(a, a)
            yield b
          }
          return r
        }
    """,
}


@pytest.mark.parametrize("name", LOOPS)
def test_the_cost_per_step_does_not_grow(name: str) -> None:
    first = gradient_of(parse(LOOPS[name]), [0])
    x = to_value(np.array([0.3, 0.9, 0.5, 0.7]), first.program.entry.params[0].type)
    ratios = []
    for n in (10, 100, 1000):
        once, twice = Interpreter(first.program), Interpreter(first.next.program)
        once.run(x, n)
        twice.run(x, n, x)
        ratios.append(twice.cost / once.cost)
    assert ratios[2] <= 1.1 * ratios[1] <= 1.3 * ratios[0]
    assert ratios[2] <= LARGEST_RATIO


# ---- places of their own ---------------------------------------------------------


def test_golden(golden: Callable[[Path, str], None]) -> None:
    """The cotangents of all real results pulled back to all real parameters."""

    def run(title: str, program: Program) -> str:
        entry = program.entry
        wrt = [k for k, p in enumerate(entry.params) if has_float(p.type)]
        real = [k for k, r in enumerate(entry.body.results) if has_float(r.type)]
        new = Program((pull_back(entry, wrt, real),))
        check(new, after=title)
        return pretty(new)

    check_cases(Path(__file__).with_name("second_order.cases"), run, golden)


def test_all_that_d_emits_has_a_derivative() -> None:
    """The transposed derivatives of the table are made of differentiable rows."""
    emitted = set()
    for name, prim in PRIMS.items():
        if prim.transpose is None or F64 not in prim.params:
            continue
        params = [f"x{k}: {ty}" for k, ty in enumerate(prim.params)]
        args = ", ".join(f"x{k}" for k in range(len(params)))
        text = f"def main({', '.join(params)}) {{ y = {name}({args}) return y }}"
        wrt = [k for k, ty in enumerate(prim.params) if ty == F64]
        found = gradient_of(parse(text), wrt).program.entry.body
        emitted |= {b.expr.op for b in found.bindings if hasattr(b.expr, "op")}
        random = np.random.default_rng(2)
        domain = iter(prim.domain)
        values = [
            float(random.uniform(*next(domain)))
            if ty == F64
            else (True if str(ty) == "bool" else 3)
            for ty in prim.params
        ]
        check_against_forward(gradient_of(parse(text), wrt), values)
    reals = {op for op in emitted if getattr(op, "result", None) == F64}
    assert PRIMS["scale"] in reals or PRIMS["mul"] in reals
    assert [op.name for op in reals if op.transpose is None] == []


def test_one_of_two_cells_is_not_asked_for() -> None:
    """What goes to it contributes nothing; what goes to the other one does."""
    program = parse(
        """
        def main(x: f64[:], p: bool) {
          a = open f64[:](2)
          b = open f64[:](2)
          c = if p { yield a } else { yield b }
          y = index(x, 0)
          z = mul(y, y)
          one c[1] z
          s = close a
          t = close b
          r = index(s, 1)
          u = index(t, 1)
          k = truncate(u)
          v = to_float(k)
          return r, v
        }
        """
    )
    check(program)
    new = Program((pull_back(program.entry, [0], [0]),))
    check(new, after="chad")
    x = to_value(np.array([3.0, 1.0]), program.entry.params[0].type)
    for p, slope in ((True, 12.0), (False, 0.0)):
        assert Interpreter(new).run(x, p, 2.0)[-1].data == [slope, 0.0]


def test_a_view_that_is_made_in_a_branch() -> None:
    program = parse(
        """
        def main(x: f64[:], p: bool) {
          c = open f64[:](2)
          v = if p {
            w = view c[0]
            yield w
          } else {
            w = view c[1]
            yield w
          }
          y = index(x, 0)
          one v y
          s = close c
          r = index(s, 0)
          return r
        }
        """
    )
    check(program)
    new = Program((pull_back(program.entry, [0], [0]),))
    check(new, after="chad")
    x = to_value(np.array([3.0, 1.0]), program.entry.params[0].type)
    for p, slope in ((True, 2.0), (False, 0.0)):
        assert Interpreter(new).run(x, p, 2.0)[-1].data == [slope, 0.0]


def test_what_has_no_rule_is_refused() -> None:
    program = parse("def main(x: f64, c: acc f64) { one c x  return x }")
    check(program)
    with pytest.raises(InternalError, match="to a parameter"):
        pull_back(program.entry, [0], [0])
