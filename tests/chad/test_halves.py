"""A pull-back in two halves: what does not depend on cotangents is run once."""

from __future__ import annotations

import math
import re

import numpy as np
from interpreted import cost, normalised

import chadllvm as cl
from chadllvm.chad.halves import halves
from chadllvm.ir.parse import parse
from chadllvm.ir.pretty import pretty

X = np.array([0.3, 0.9, -0.5])


COUNTS = 0, 1, 11


@cl.jit
def iterated(x: cl.f64[:], n: int):
    for _ in range(n):
        x = np.sin(x) * 1.1 + 0.1
    return x


@cl.jit
def pulled(x: cl.f64[:], n: int, times: int) -> float:
    out, back = cl.vjp(iterated, x, n)
    total = 0.0
    for _ in range(times):
        total += np.sum(back(out)[0])
    return total


@cl.jit
def handed_on(x: cl.f64[:], n: int, times: int) -> float:
    out, back = cl.vjp(iterated, x, n)
    return sum((lambda ct: np.sum(back(ct)[0]))(out * k) for k in range(times))


def test_the_primal_is_run_once() -> None:
    for program in (pulled, handed_on):
        for level in (0, 2):
            options = cl.CompileOptions(optimize=level)
            none, one, many = (cost(program, X, 50, m, options=options) for m in COUNTS)
            assert math.isclose(many - one, 10 * (one - none), rel_tol=0.01)
            # With the primal it would be three times what the primal costs.
            assert level == 0 or one - none < 2.2 * none


@cl.jit
def rarely(x: cl.f64[:], n: int, times: int) -> float:
    total = np.sum(iterated(x, n))
    if times > 0:
        out, back = cl.vjp(iterated, x, n)
        total += np.sum(back(out)[0])
    return total


def test_no_tape_is_made_where_only_a_branch_pulls_back() -> None:
    program, _ = normalised(rarely, (X, 50, 0))
    before, inside = pretty(program).split("if t_")
    tape = re.compile(r", \w+ = iterate")
    assert not tape.search(before)
    assert tape.search(inside)


TEXT = """
def main(x: f64, y_ct: f64) {
  a = exp(x)
  kept = open f64
  one kept a
  b = close kept
  y = mul(a, b)
  x_c = open f64
  t = mul(b, y_ct)
  one x_c t
  x_ct = close x_c
  return y, x_ct
}
"""

EARLY = """
def main_early(x: f64) {
  a = exp(x)
  kept = open f64
  one kept a
  b = close kept
  y = mul(a, b)
  return y, b
}
"""

LATE = """
def main_late(b: f64, y: f64, y_ct: f64) {
  x_c = open f64
  t = mul(b, y_ct)
  one x_c t
  x_ct = close x_c
  return y, x_ct
}
"""


def test_cells_are_where_they_are_added_to() -> None:
    (function,) = parse(TEXT).functions
    found = halves(function, 1, 1)
    program = type(parse(TEXT))
    assert pretty(program((found.early,))).strip() == EARLY.strip()
    assert pretty(program((found.late,))).strip() == LATE.strip()
    assert found.saved == (1, 0)
