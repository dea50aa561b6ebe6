"""Golden texts: what each pass makes of tiny programs.

A file `<pass>.cases` has cases of the form

    [case name]
    def main(…) { … }
    [out]
    def main(…) { … }
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

import chadllvm.ops  # noqa: F401
from chadllvm.ir.check import check
from chadllvm.ir.parse import parse
from chadllvm.ir.pretty import pretty
from chadllvm.ir.term import Program
from chadllvm.simplify.accumulate import accumulate
from chadllvm.simplify.bounds import bounds
from chadllvm.simplify.constants import fold_constants
from chadllvm.simplify.cse import cse
from chadllvm.simplify.dce import dce
from chadllvm.simplify.flatten import flatten
from chadllvm.simplify.hoist import hoist
from chadllvm.simplify.inline import inline
from chadllvm.simplify.states import states

PASSES: dict[str, Callable[[Program], Program]] = {
    "accumulate": accumulate,
    "bounds": bounds,
    "speculate": partial(bounds, speculate=True),
    "constants": fold_constants,
    "cse": cse,
    "dce": dce,
    "flatten": flatten,
    "hoist": hoist,
    "inline": inline,
    "states": states,
}
CASE = re.compile(r"\[case (\w+)\]\n(.*?)\n\[out\]\n.*?(?=\[case|\Z)", re.DOTALL)


@pytest.mark.parametrize("name", PASSES)
def test_golden(name: str, golden: Callable[[Path, str], None]) -> None:
    path = Path(__file__).with_name(f"{name}.cases")
    run = PASSES[name]
    texts = []
    for title, source in CASE.findall(path.read_text(encoding="utf-8")):
        program = parse(source)
        check(program, after=title)
        new = run(program)
        check(new, after=name)
        assert run(new) is new, f"{title}: a second run finds more to do"
        texts.append(f"[case {title}]\n{source}\n[out]\n{pretty(new)}\n")
    assert texts
    golden(path, "\n".join(texts))
