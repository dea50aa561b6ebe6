"""All ways to a derivative agree, on every program of the tests' corpus.

The paper's forms in the reference (naive, sparse, monadic over three monads), the
compiler's own in the interpreter and in machine code, with `optimize=0` and by default,
forward mode, and central differences.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

import chadllvm as cl
from bench.paper.claim import Claim, Report
from bench.paper.programs import corpus, numbers
from chadllvm.frontend import specialise
from tests.containers import drawn, moved

STEP = 1e-6
QUICK_PROGRAMS = 12

# Relative differences that are allowed; differences of values are not precise.
TOLERANCE, COARSE = 1e-9, 2e-5

# One-sided slopes: differences see both sides of a point where the program stops.
ONE_SIDED = ("untaken_branch", "unused_element")


@dataclass
class _Gap:
    """The largest relative difference met, and over how many programs."""

    names: set[str] = field(default_factory=set)
    worst: float = 0.0
    at: str = "none"

    def meet(self, name: str, found: Any, expected: Any) -> None:
        self.names.add(name)
        found, expected = np.asarray(numbers(found)), np.asarray(numbers(expected))
        known = np.isfinite(expected)
        scale = max([1.0, *abs(expected[known])])
        gap = float(max([0.0, *abs(found[known] - expected[known]) / scale]))
        if not np.array_equal(np.isfinite(found), known):
            gap = np.inf
        if gap > self.worst:
            self.worst, self.at = gap, name

    def claim(self, says: str, place: str, tolerance: float) -> Claim:
        measured = (
            f"{len(self.names)} programs; largest relative difference {self.worst:.1e} "
            f"({self.at})"
        )
        return Claim(says, place, measured, self.worst <= tolerance)


def report(quick: bool) -> Report:
    """Go over the corpus once."""
    cases = [case for case in corpus() if _reals(case)]
    forms, permanent, forward, slopes = (_Gap() for _ in range(4))
    for case in cases[:QUICK_PROGRAMS] if quick else cases:
        default = cl.value_and_grad(case.function, argnums=_reals(case))(*case.args)
        _check_forms(case, default, forms)
        _check_permanent(case, default, permanent)
        _check_slopes(case, default, forward, slopes)
    place = "§2, §4, §5"
    return Report(
        [
            forms.claim(
                "the naive, sparse and monadic forms agree with machine code",
                place,
                TOLERANCE,
            ),
            permanent.claim(
                "machine code is the same as the paper writes it (optimize=0) and "
                "by default",
                "§5, §7, App. B",
                TOLERANCE,
            ),
            forward.claim("forward mode agrees", "§2", TOLERANCE),
            slopes.claim("central differences agree", "§2", COARSE),
        ]
    )


def _check_forms(case: Any, default: Any, gap: _Gap) -> None:
    from tests.array_reference import LARGE, Example, forms, value_of

    program = specialise(case.function.py_func, case.function._types(case.args))
    example = Example.of(program, case.args)
    _, cost = value_of(example)
    for name, linear, run in forms():
        if cost > LARGE and name not in ("sparse", "array"):
            continue
        outcome = run(example, 1.0)
        cotangents = example.numbers(linear, outcome.cotangents)
        gap.meet(case.name, [outcome.value, *cotangents], default)


def _check_permanent(case: Any, default: Any, gap: _Gap) -> None:
    function = cl.jit(case.function.py_func, optimize=0)
    found = cl.value_and_grad(function, argnums=_reals(case))(*case.args)
    gap.meet(case.name, found, default)


def _check_slopes(case: Any, default: Any, forward: _Gap, slopes: _Gap) -> None:
    """Along a random direction, by forward mode and by differences."""
    random = np.random.default_rng(3)
    direction = tuple(drawn(arg, random) for arg in case.args)
    if case.name in ONE_SIDED:
        direction = tuple(None if d is None else abs(d) for d in direction)
    _, tangent = cl.jvp(case.function, case.args, direction)
    gradient = numbers(default[1])
    along = numbers(tuple(direction[k] for k in _reals(case)))
    slope = sum(g * t for g, t in zip(gradient, along, strict=True))
    forward.meet(case.name, tangent, slope)
    above, below = (
        case.function(*map(lambda a, d: moved(a, d, step), case.args, direction))
        for step in (STEP, -STEP)
    )
    difference = (above - below) / (2 * STEP)
    if np.isfinite(difference):
        slopes.meet(case.name, slope, difference)


def _reals(case: Any) -> list[int]:
    """The positions of the arguments that hold real numbers."""
    random = np.random.default_rng(0)
    return [k for k, a in enumerate(case.args) if numbers(drawn(a, random))]
