"""Forward mode: what it costs, and that it is the adjoint of reverse mode."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bench.paper.claim import Claim, Report
from bench.paper.programs import for_each
from chadllvm.chad.forward import push_forward
from chadllvm.chad.gradient import value_and_gradient
from chadllvm.ir.interp import Interpreter
from chadllvm.ir.op import ProgramError
from chadllvm.ir.term import Program
from chadllvm.ir.types import has_float
from chadllvm.ir.value import ArrayValue, to_value
from chadllvm.simplify.flatten import flatten
from chadllvm.simplify.inline import inline
from tests.array_strategies import array_cases
from tests.leaves import all_leaves
from tests.strategies import cases

BOUND = 3
TOLERANCE = 1e-9


@dataclass
class _Findings:
    """What was seen so far, over all programs."""

    programs: int = 0
    ratio: float = 0.0
    gap: float = 0.0
    random: np.random.Generator = field(
        default_factory=lambda: np.random.default_rng(7)
    )

    def meet(self, tangent: float, expected: float) -> None:
        """Note how far ⟨1, jvp⟩ is from ⟨gradient, t⟩."""
        self.programs += 1
        if np.isfinite(expected):
            gap = abs(tangent - expected) / max(1.0, abs(expected))
            self.gap = max(self.gap, gap)


def report(quick: bool) -> Report:
    """Random programs in the interpreter; `agreement` has the corpus."""
    found = _Findings()
    count = 40 if quick else 1000
    for strategy in (cases(), array_cases()):
        for_each(strategy, count, lambda case: _check_random(case, found))
    checked = f"{found.programs} random programs"
    return Report(
        [
            Claim(
                "forward mode costs at most 3 times the value, plus the inputs' size",
                "the repository's own; §2 names forward mode as the dual",
                f"largest ratio {found.ratio:.2f} on {checked}",
                found.ratio <= BOUND,
            ),
            Claim(
                "forward and reverse mode are adjoint: ⟨ct, jvp⟩ = ⟨vjp, t⟩",
                "§2, correctness",
                f"{checked}; largest relative difference {found.gap:.1e}",
                found.gap <= TOLERANCE,
            ),
        ]
    )


def _check_random(case: Any, found: _Findings) -> None:
    types = [p.type for p in case.program.entry.params]
    values = all_leaves(list(map(to_value, case.args, types)), types)
    entry = inline(flatten(case.program)).entry
    wrt = [k for k, p in enumerate(entry.params) if has_float(p.type)]
    tangents = [_like(values[k], found.random) for k in wrt]
    primal = Interpreter(Program((entry,)))
    try:
        results = primal.run(*values)
    except ProgramError:
        return
    forward = Interpreter(Program((push_forward(entry, wrt),)))
    slopes = forward.run(*values, *tangents)[len(results) :]
    reverse = Interpreter(Program((value_and_gradient(entry, wrt),)))
    cts = reverse.run(*values)[len(results) :]
    pairs = zip(cts, tangents, strict=True)
    found.meet(slopes[0], sum(_dot(ct, t) for ct, t in pairs))
    size = sum(len(_numbers(v)) for v in values)
    found.ratio = max(found.ratio, (forward.cost - size) / max(primal.cost, 1))


def _numbers(value: Any) -> list[float]:
    return value.data if isinstance(value, ArrayValue) else [value]


def _like(value: Any, random: np.random.Generator) -> Any:
    """A random tangent of a value of the interpreter."""
    if isinstance(value, ArrayValue):
        return ArrayValue(value.shape, random.normal(size=len(value.data)).tolist())
    return float(random.normal())


def _dot(a: Any, b: Any) -> float:
    return sum(x * y for x, y in zip(_numbers(a), _numbers(b), strict=True))
