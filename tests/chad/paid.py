"""The cells of gradients that nobody pays for."""

from __future__ import annotations

from collections.abc import Callable

from programs.case import Case

import chadllvm as cl
from chadllvm.chad.gradient import pull_back
from chadllvm.chad.payers import Unpaid, unpaid
from chadllvm.driver.passes import APART, DERIVATIVE, PLAIN, PRIMAL, SOURCE
from chadllvm.driver.pipeline import Compilation
from chadllvm.driver.plan import Plan
from chadllvm.frontend import signature, specialise
from chadllvm.ir.term import Program
from chadllvm.ir.types import has_float
from chadllvm.support.request import Request
from tests.laws.cost_sweep import WRT
from tests.program_cases import source_of


def found(
    program: Callable[..., float], *disabled: str, cost_law: bool = False
) -> list[Unpaid]:
    """The cells of a program's gradient that nobody pays for."""
    types = [p.annotation for p in signature(program)]
    plan = Plan(specialise(program, tuple(types)), types, Request(WRT))
    options = cl.CompileOptions(disabled=frozenset(disabled), cost_law=cost_law)
    return unpaid(plan.compile(options).stages["chad"])


def found_in(case: Case, order: int = 1) -> list[Unpaid]:
    """The same of a program of the corpus, by all its parameters that hold reals, and
    of its gradient if the order is two."""
    done = Compilation(cl.CompileOptions())
    program = done.run(done.normalised(source_of(case)), (*SOURCE, *PRIMAL))
    program = _pulled_back(program, done)
    if order == 2:
        program = done.run(program, (*DERIVATIVE, *PLAIN, *APART))
        program = _pulled_back(program, done)
    return unpaid(program)


def _pulled_back(program: Program, done: Compilation) -> Program:
    entry = program.entry
    results = entry.body.results
    wrt = [k for k, p in enumerate(entry.params) if has_float(p.type)]
    reals = [k for k, r in enumerate(results) if has_float(r.type)]
    return done.settled(Program((pull_back(entry, wrt, reals, done.customs),)))
