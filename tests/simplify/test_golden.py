"""Golden texts: what each pass makes of tiny programs, and nothing on a second run."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from golden_cases import check_cases

from chadllvm.ir.check import check
from chadllvm.ir.pretty import pretty
from chadllvm.ir.term import Program
from chadllvm.simplify.accumulate import accumulate
from chadllvm.simplify.bounds import bounds
from chadllvm.simplify.cells import cells
from chadllvm.simplify.columns import columns
from chadllvm.simplify.constants import fold_constants
from chadllvm.simplify.correlated import correlated
from chadllvm.simplify.cse import cse
from chadllvm.simplify.dce import dce
from chadllvm.simplify.decided import decided
from chadllvm.simplify.displays import displays
from chadllvm.simplify.elements import elements
from chadllvm.simplify.equal import equal
from chadllvm.simplify.extremes import extremes
from chadllvm.simplify.finite import finite
from chadllvm.simplify.flatten import flatten
from chadllvm.simplify.fuse import fuse
from chadllvm.simplify.gather import gather
from chadllvm.simplify.hoist import hoist
from chadllvm.simplify.inductions import inductions
from chadllvm.simplify.inline import inline
from chadllvm.simplify.lasting import lasting
from chadllvm.simplify.locations import locations
from chadllvm.simplify.pointwise import pointwise
from chadllvm.simplify.promote import promote
from chadllvm.simplify.recall import recall
from chadllvm.simplify.references import references
from chadllvm.simplify.roots import roots
from chadllvm.simplify.rows import rows
from chadllvm.simplify.scatter import scatter
from chadllvm.simplify.shapes import shapes
from chadllvm.simplify.shifts import shifts
from chadllvm.simplify.sink import sink
from chadllvm.simplify.slices import slices
from chadllvm.simplify.stretch import stretch
from chadllvm.simplify.sums import sums
from chadllvm.simplify.tabulate import tabulate
from chadllvm.simplify.tails import tails
from chadllvm.simplify.views import views

PASSES: dict[str, Callable[[Program], Program]] = {
    "accumulate": accumulate,
    "bounds": bounds,
    "speculate": partial(bounds, speculate=True),
    "cells": cells,
    "columns": columns,
    "constants": fold_constants,
    "correlated": correlated,
    "cse": cse,
    "stores": partial(cse, stores=True),
    "dce": dce,
    "displays": displays,
    "elements": elements,
    "equal": partial(equal, speculate=True),
    "extremes": extremes,
    "finite": finite,
    "flatten": flatten,
    "fuse": partial(fuse, speculate=True),
    "gather": gather,
    "hoist": hoist,
    "inductions": inductions,
    "inline": inline,
    "lasting": lasting,
    "locations": locations,
    "pointwise": pointwise,
    "promote": promote,
    "recall": recall,
    "references": references,
    "decided": decided,
    "roots": roots,
    "rows": partial(rows, speculate=True),
    "scatter": scatter,
    "shapes": shapes,
    "stretch": partial(stretch, speculate=True),
    "stretch_checked": partial(stretch, speculate=False),
    "shifts": shifts,
    "sink": sink,
    "sums": sums,
    "tabulate": tabulate,
    "tails": partial(tails, exact=False),
    "views": views,
    "slices": slices,
}


@pytest.mark.parametrize("name", PASSES)
def test_golden(name: str, golden: Callable[[Path, str], None]) -> None:
    apply = PASSES[name]

    def run(title: str, program: Program) -> str:
        new = apply(program)
        check(new, after=name)
        assert apply(new) is new, f"{title}: a second run finds more to do"
        return pretty(new)

    check_cases(Path(__file__).with_name(f"{name}.cases"), run, golden)
