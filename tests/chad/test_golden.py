"""Golden texts: D[·] of tiny programs, by all their real parameters."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from golden_cases import check_cases

from chadllvm.chad.gradient import value_and_gradient
from chadllvm.ir.check import check
from chadllvm.ir.pretty import pretty
from chadllvm.ir.term import Program
from chadllvm.ir.types import has_float


def test_golden(golden: Callable[[Path, str], None]) -> None:
    def run(title: str, program: Program) -> str:
        params = program.entry.params
        wrt = [k for k, p in enumerate(params) if has_float(p.type)]
        new = Program((value_and_gradient(program.entry, wrt),))
        check(new, after=title)
        return pretty(new)

    check_cases(Path(__file__).with_name("gradient.cases"), run, golden)
