"""Golden texts: loops that do not need each other, and what stands between them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from golden_cases import check_cases

from chadllvm.ir.loops_check import check_loops
from chadllvm.ir.loops_pretty import pretty_loops
from chadllvm.ir.term import Program
from chadllvm.lower.lower import lower_function
from chadllvm.lower.strands.strands import strands


def test_golden(golden: Callable[[Path, str], None]) -> None:
    def run(title: str, program: Program) -> str:
        function = strands(lower_function(program.entry))
        check_loops(function)
        return pretty_loops(function)

    check_cases(Path(__file__).with_name("strands.cases"), run, golden)
