"""Golden texts: what closure conversion makes of tiny programs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from golden_cases import check_cases

from chadllvm.closure.convert import convert_closures
from chadllvm.ir.check import check
from chadllvm.ir.pretty import pretty
from chadllvm.ir.term import Program
from chadllvm.simplify.lasting import lasting_elements
from chadllvm.simplify.shapes import kept_states


def test_golden(golden: Callable[[Path, str], None]) -> None:
    def run(title: str, program: Program) -> str:
        new = convert_closures(program, kept_states, lasting_elements)
        check(new, after=title)
        return pretty(new)

    check_cases(Path(__file__).with_name("convert.cases"), run, golden)
