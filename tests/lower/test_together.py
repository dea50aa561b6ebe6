"""Golden texts: calls of a recursion that do not need each other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from golden_cases import check_cases

from chadllvm.ir.loops_check import check_loops
from chadllvm.ir.loops_pretty import pretty_loops
from chadllvm.ir.term import Program
from chadllvm.lower.lower import lower_function
from chadllvm.lower.tasks import tasks


def test_golden(golden: Callable[[Path, str], None]) -> None:
    def run(title: str, program: Program) -> str:
        function = tasks(lower_function(program.entry))
        check_loops(function)
        return pretty_loops(function)

    check_cases(Path(__file__).with_name("tasks.cases"), run, golden)
