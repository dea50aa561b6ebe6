"""Sums through the whole pipeline: values, gradients and machine code."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from chadllvm.ir.check import check
from chadllvm.ir.interp import evaluate
from chadllvm.ir.parse import parse
from chadllvm.ir.pretty import alpha_equal
from chadllvm.ir.rewrite import Renaming
from chadllvm.ir.value import Injected
from chadllvm.simplify.dce import dce
from chadllvm.simplify.flatten import flatten
from chadllvm.support.diagnostic import InternalError
from tests.native import check_case
from tests.strategies import Case
from tests.sum_strategies import sum_cases
from tests.sweep import part

OPTION = """
def main(s: <none: (), some: (f64, f64[:])>, x: f64) {
  y = case s none(u: ()) {
    a = sin(x)
    yield a
  } some(p: (f64, f64[:])) {
    b = p.0
    v = p.1
    n = dim[0](v)
    t = fold[add](n) { i ->
      e = index(v, i)
      f = mul(e, b)
      yield f
    }
    g = mul(t, x)
    yield g
  }
  return y
}"""

# A machine whose state is a sum: it climbs, then oscillates.
MACHINE = """
def main(x: f64, n: i64) {
  start = <climb: f64, turn: (f64, f64)>.climb(x)
  last, seen = iterate(n, start) { i, s: <climb: f64, turn: (f64, f64)> ->
    next, height = case s climb(h: f64) {
      k = mul(h, 1.5)
      c = flt(k, 3.0)
      r = if c {
        r1 = <climb: f64, turn: (f64, f64)>.climb(k)
        yield r1
      } else {
        pair = (h, 0.5)
        r2 = <climb: f64, turn: (f64, f64)>.turn(pair)
        yield r2
      }
      yield r, k
    } turn(q: (f64, f64)) {
      a = q.0
      b = q.1
      a1 = sin(a)
      b1 = add(b, a1)
      pair1 = (b1, a)
      r3 = <climb: f64, turn: (f64, f64)>.turn(pair1)
      yield r3, b1
    }
    yield next, height
  }
  end = case last climb(h2: f64) {
    yield h2
  } turn(q2: (f64, f64)) {
    z = q2.1
    yield z
  }
  m = dim[0](seen)
  total = fold[add](m) { j ->
    e = index(seen, j)
    yield e
  }
  y = mul(total, end)
  return y
}"""

ARRAY = """
def main(a: f64[:]) {
  n = dim[0](a)
  r = build(n) { i ->
    x = index(a, i)
    c = flt(x, 0.0)
    s = if c {
      l = <low: f64, high: (f64, i64)>.low(x)
      yield l
    } else {
      p = (x, i)
      h = <low: f64, high: (f64, i64)>.high(p)
      yield h
    }
    yield s
  }
  y = fold[add](n) { j ->
    t = index(r, j)
    z = case t low(u: f64) {
      u1 = mul(u, u)
      yield u1
    } high(v: (f64, i64)) {
      v0 = v.0
      v1 = v.1
      w = to_float(v1)
      w1 = mul(w, v0)
      yield w1
    }
    yield z
  }
  return y
}"""

VECTOR = np.array([0.5, -1.5, 2.0])
CASES = {
    "none": (OPTION, (Injected(0, ()), 0.3), np.sin(0.3)),
    "some": (OPTION, (Injected(1, (2.0, VECTOR)), 0.3), 0.6),
    "machine": (MACHINE, (1.0, 9), None),
    "machine at rest": (MACHINE, (1.0, 0), 0.0),
    "array": (ARRAY, (VECTOR,), 2.25 + 4.0),
}


@pytest.mark.parametrize("name", CASES)
def test_programs_in_every_way(name: str) -> None:
    text, args, expected = CASES[name]
    program = parse(text)
    check(program)
    if expected is not None:
        assert evaluate(program, *args) == pytest.approx(expected)
    check_case(Case(program, args))


@settings(
    max_examples=part(25, 3),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.large_base_example],
)
@given(sum_cases(size=4, single=False))
def test_random_programs_in_machine_code(case: Case) -> None:
    check_case(case, ["default value", "default gradient", "derivative"])


@pytest.mark.parametrize("text", [OPTION, MACHINE, ARRAY])
def test_copies(text: str) -> None:
    body = parse(text).entry.body
    assert alpha_equal(Renaming(fresh=True).block(body), body)


def test_results_of_a_case_are_removed_one_by_one() -> None:
    program = parse(
        """def main(s: <a: f64, b: ()>) {
             x, y = case s a(v: f64) { w = sin(v)  yield v, w }
                    b(u: ()) { yield 1.0, 2.0 }
             return x
           }"""
    )
    expected = parse(
        """def main(s: <a: f64, b: ()>) {
             x = case s a(v: f64) { yield v } b(u: ()) { yield 1.0 }
             return x
           }"""
    )
    assert alpha_equal(dce(program), expected)


def test_elements_of_an_array_hold_arrays_in_lists_only() -> None:
    text = "def main(a: <no: (), yes: TYPE>[DIMS]) { n = dim[0](a)  return n }"
    flatten(parse(text.replace("TYPE", "box f64[:]").replace("DIMS", ":, :")))
    flatten(parse(text.replace("TYPE", "f64[:]").replace("DIMS", ":")))
    with pytest.raises(InternalError, match="with bare arrays"):
        flatten(parse(text.replace("TYPE", "f64[:]").replace("DIMS", ":, :")))
