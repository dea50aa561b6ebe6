"""Both modes, in every nesting, on the programs of the corpus:

    PYTHONPATH=tests python -m tests.laws.corpus_orders

goes over all of them; a part of it is among the tests. For a program with results y(x),
cotangents c, and directions v and w, H = ∂²⟨c, y⟩/∂x² times v comes out of three
nestings, and ⟨w, H v⟩ out of the fourth.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from programs.case import Case

import chadllvm as cl
from chadllvm.chad.forward import push_forward
from chadllvm.chad.gradient import pull_back
from chadllvm.driver.passes import DERIVATIVE, SOURCE
from chadllvm.driver.pipeline import Compilation
from chadllvm.frontend import specialise
from chadllvm.ir.check import check
from chadllvm.ir.interp import Interpreter
from chadllvm.ir.term import Function, Program
from chadllvm.ir.types import has_float
from chadllvm.ir.value import ArrayValue, to_value
from tests.chad.test_forward import directions, dot
from tests.chad.test_random_programs import numbers
from tests.leaves import all_leaves
from tests.program_cases import REAL_CASES

CORPUS = REAL_CASES


@dataclass
class Flat:
    """A program of the corpus as plain as the compiler makes it, and its arguments."""

    entry: Function
    values: list[Any]
    done: Compilation

    @property
    def wrt(self) -> list[int]:
        return [k for k, p in enumerate(self.entry.params) if has_float(p.type)]

    @property
    def reals(self) -> list[int]:
        results = self.entry.body.results
        return [k for k, result in enumerate(results) if has_float(result.type)]

    def derived(self, function: Function) -> Function:
        """A derivative without functions."""
        check(Program((function,)), after="derivative")
        done = Compilation(self.done.options)
        return done.run(Program((function,)), DERIVATIVE).entry

    def run(self, function: Function, *more: list[Any]) -> list[Any]:
        everything = [*self.values, *(value for values in more for value in values)]
        return list(Interpreter(Program((function,))).run(*everything))


def flat(case: Case) -> Flat:
    types = case.function._types(case.args)
    source = specialise(case.function.py_func, types)
    done = Compilation(cl.CompileOptions(speculate=False))
    program = done.settled(done.run(done.normalised(source), SOURCE))
    pairs = zip(case.args, types, strict=True)
    values = all_leaves([to_value(value, ty) for value, ty in pairs], types)
    return Flat(program.entry, values, done)


def changed(values: list[Any]) -> list[Any]:
    """Other directions."""
    return [
        ArrayValue(v.shape, [x * x - 0.3 for x in v.data])
        if isinstance(v, ArrayValue)
        else v * v - 0.3
        for v in values
    ]


def check_case(case: Case) -> None:
    """Check one program.

    Raises:
        AssertionError: if the modes are not adjoint, or nestings of them differ.
    """
    program = flat(case)
    wrt, reals = program.wrt, program.reals
    count = len(program.entry.body.results)
    vs = directions(program.values, wrt)
    ws = changed(vs)
    forward = program.derived(push_forward(program.entry, wrt))
    results = program.run(forward, vs)
    cts = directions(results[:count], reals)
    reverse = program.derived(pull_back(program.entry, wrt, reals))
    gradient = program.run(reverse, cts)[count:]
    expected = dot(cts, results[count:])
    assert dot(gradient, vs) == pytest.approx(expected, rel=1e-9, abs=1e-9, nan_ok=True)
    last = range(count, count + len(wrt))
    tangents = range(count, count + len(reals))
    mixed = program.derived(push_forward(reverse, wrt))
    turned = program.derived(pull_back(forward, wrt, tangents))
    twice = program.derived(pull_back(reverse, wrt, last))
    hessian = program.run(mixed, cts, vs)[-len(wrt) :]
    close(program.run(turned, vs, cts)[-len(wrt) :], hessian, "reverse over forward")
    close(program.run(twice, cts, vs)[-len(wrt) :], hessian, "reverse over reverse")
    both = program.derived(push_forward(forward, wrt))
    slopes = program.run(both, vs, ws)[-len(reals) :]
    scale = largest(hessian)
    assert dot(cts, slopes) == pytest.approx(
        dot(hessian, ws), rel=1e-7, abs=1e-8 * scale, nan_ok=True
    )


def largest(values: list[Any]) -> float:
    found = [abs(x) for value in values for x in numbers(value)]
    return max([1.0, *(x for x in found if np.isfinite(x))])


def close(found: list[Any], expected: list[Any], name: str) -> None:
    tolerance = 1e-9 * largest(expected)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(
            numbers(a), numbers(b), rtol=1e-8, atol=tolerance, err_msg=name
        )


def main() -> int:
    """Check the whole corpus; the exit code says whether all programs passed."""
    failures = 0
    for k, case in enumerate(CORPUS):
        try:
            check_case(case)
        except AssertionError as error:
            failures += 1
            sys.stdout.write(f"{case.name}: {error}\n")
        if k % 50 == 49:
            sys.stdout.write(f"{k + 1} programs, {failures} failures\n")
            sys.stdout.flush()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
