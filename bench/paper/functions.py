"""Higher order (§9, App. B): what naive CHAD costs, and what closures make of it.

All figures are steps of the reference's machine, which is that of App. C.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from random import Random
from typing import Any

from bench.paper.claim import Claim, Curve, Report, Series
from chadllvm.ir.types import Fun
from chadllvm.paper.closed import ClosedBasic, ClosedMonadic
from chadllvm.paper.closure import convert
from chadllvm.paper.cost import (
    FACTOR,
    FIXED,
    PER_VARIABLE,
    Outcome,
    run_basic,
    run_gradient,
    run_term,
)
from chadllvm.paper.defunctionalise import defunctionalise
from chadllvm.paper.higher_order import Bags, HigherOrder, Lists, Log
from chadllvm.paper.monad import ArrayMonad, Monadic
from chadllvm.paper.naive import Basic, Dense, Tuples
from chadllvm.paper.packed import CLOSED
from chadllvm.paper.rules import Rules
from chadllvm.paper.sparse import Sparse, Trees
from chadllvm.paper.terms import Term, type_of
from tests.function_term_strategies import (
    Program,
    chain,
    cotangent,
    most_captured,
    named,
    nested,
    programs,
    wide,
)

PROGRAMS, DEEPEST, WIDEST = 300, 16, 256

# The factor that closure conversion costs, if nothing is captured.
CONVERSION = 6

Points = tuple[tuple[float, float], ...]

# A family of programs by size, and the steps of one way to differentiate them.
Family = Callable[[int], Program]
Steps = Callable[[Program], int]


def report(quick: bool) -> Report:
    """Nested and wide functions, and random programs."""
    deepest, widest, count = (9, 16, 20) if quick else (DEEPEST, WIDEST, PROGRAMS)
    sizes = range(1, deepest + 1)
    nests = {name: _points(nested, steps, sizes) for name, steps in WAYS.items()}
    chains = {name: _points(chain, steps, sizes) for name, steps in WAYS.items()}
    bag = WAYS["naive, bag"]
    claims = [
        _doubling("nested applications", nests["naive, list"]),
        _doubling("nested applications, with a log without ++", nests["naive, bag"]),
        _doubling("nested functions with names", _points(named, bag, sizes)),
        _quadratic(chains["naive, bag"]),
        *[_linear("nested applications take", way, nests[way]) for way in CURED],
        *[
            _linear("functions that call the one before take", way, chains[way])
            for way in ("closures, sparse", "closures, monadic", "first order, monadic")
        ],
        *_random_programs(count),
    ]
    curves = [
        _curve("functions_nested", "Nested applications", nests),
        _curve("functions_chain", "Functions that call the one before", chains),
        _wide([2**k for k in range(1, int(math.log2(widest)) + 1)]),
    ]
    return Report(claims, curves)


def _naive(log: Log) -> Steps:
    linear = Sparse({Fun: log, **CLOSED})
    return lambda p: _basic(Trees(linear), p, p.term, HigherOrder())


def _basic(environments: Any, program: Program, term: Term, rules: Rules) -> int:
    scope, values = program.scope, program.values
    return run_basic(environments, term, scope, values, 1.0, rules).cost


def _closed_dense(program: Program) -> int:
    environments = Tuples(Dense(CLOSED))
    return _basic(environments, program, convert(program.term), ClosedBasic())


def _closed_sparse(program: Program) -> int:
    environments = Trees(Sparse(CLOSED))
    return _basic(environments, program, convert(program.term), ClosedBasic())


def _closed_monadic(program: Program) -> int:
    return _monadic(program, convert(program.term), ClosedMonadic())


def _first_order_dense(program: Program) -> int:
    term = defunctionalise(program.scope, program.term)
    return _basic(Tuples(Dense()), program, term, Basic())


def _first_order_sparse(program: Program) -> int:
    term = defunctionalise(program.scope, program.term)
    return _basic(Trees(Sparse(), finding=True), program, term, Basic())


def _first_order_monadic(program: Program) -> int:
    term = defunctionalise(program.scope, program.term)
    return _monadic(program, term, Monadic())


def _monadic(program: Program, term: Term, rules: Rules) -> int:
    return _gradient(program, term, rules, 1.0).cost


def _gradient(program: Program, term: Term, rules: Rules, d: Any) -> Outcome:
    monad = ArrayMonad(Sparse(CLOSED))
    return run_gradient(monad, term, program.scope, program.values, d, rules)


WAYS: dict[str, Steps] = {
    "naive, list": _naive(Lists()),
    "naive, bag": _naive(Bags()),
    "closures, §2": _closed_dense,
    "closures, sparse": _closed_sparse,
    "closures, monadic": _closed_monadic,
    "first order, §2": _first_order_dense,
    "first order, sparse": _first_order_sparse,
    "first order, monadic": _first_order_monadic,
}

# The ways that take linear time for nested applications. The others grow with the
# scope too: defunctionalised, all variables are in one scope (§4).
CURED = (
    "closures, §2",
    "closures, sparse",
    "closures, monadic",
    "first order, monadic",
)


def _points(family: Family, steps: Steps, sizes: Sequence[int]) -> Points:
    return tuple((n, steps(family(n))) for n in sizes)


def _curve(name: str, title: str, found: dict[str, Points]) -> Curve:
    series = tuple(Series(way, points) for way, points in found.items())
    return Curve(name, title, "§9", "functions", "steps of the gradient", series)


def _doubling(family: str, points: Points) -> Claim:
    (last, steps), (_, before) = points[-1], points[-2]
    factors = [b / a for (_, a), (_, b) in pairwise(points)]
    return Claim(
        f"naive CHAD of {family} takes 2ⁿ steps",
        "§9",
        f"{steps:.0f} steps for n = {last}, {steps / before:.3f} times those of n - 1",
        min(factors) >= 1.9 and steps >= 2**last,
    )


def _quadratic(points: Points) -> Claim:
    """A log is gone through in a function that is called by what made its entries."""
    more = _differences(_differences([steps for _, steps in points]))
    return Claim(
        "naive CHAD of functions that call the one before takes quadratic time",
        "§9",
        f"the n-th takes {max(more):.0f} steps more than the one before",
        min(more) == max(more) > 0,
    )


def _linear(family: str, way: str, points: Points) -> Claim:
    # The first program of a family may be special.
    each = _differences([steps for _, steps in points[1:]])
    return Claim(
        f"{family} linear time ({way})",
        "§9, App. B",
        f"{max(each):.0f} steps for each function",
        min(each) == max(each),
    )


def _differences(numbers: Sequence[float]) -> list[float]:
    return [b - a for a, b in pairwise(numbers)]


def _wide(sizes: Sequence[int]) -> Curve:
    """What n calls of a function that captures n variables cost, per call."""

    def per_call(steps: Steps) -> Points:
        return tuple((n, steps(wide(n)) / n) for n in sizes)

    naive = [name for name in WAYS if name.startswith("naive")]
    series = (
        *[Series(name, per_call(WAYS[name])) for name in naive],
        Series("value", per_call(lambda p: _value(p, p.term))),
        Series("value, closures", per_call(lambda p: _value(p, convert(p.term)))),
        Series("gradient, closures, monadic", per_call(_closed_monadic)),
    )
    title = "Calls of a function that captures n variables and uses one"
    return Curve("functions_wide", title, "App. B", "n", "steps per call", series)


def _value(program: Program, term: Term) -> int:
    return run_term(term, program.scope, program.values)[1]


def _random_programs(count: int) -> list[Claim]:
    """The largest ratios for random programs."""
    measured = [
        _ratios(program, Random(index))
        for index, program in enumerate(programs(count, seed=1))
    ]
    conversion, closures, first_order, apart = map(max, zip(*measured, strict=True))
    text = f"the largest of {count} random programs: {{:.2f}}"
    theorem = "cost ≤ 5 + 34 cost(t) + 4 |Γ| + size(d)"
    return [
        Claim(
            "cost(T[t]) ≤ (6 + ⌈log₂ n⌉) cost(t), if no function captures more than n",
            "App. B",
            text.format(conversion) + " + ⌈log₂ n⌉",
            conversion <= CONVERSION,
        ),
        Claim(
            f"{theorem} holds for closed functions and packed values",
            "App. B, §6",
            text.format(closures),
            closures <= FACTOR,
        ),
        Claim(
            f"{theorem} holds for defunctionalised programs",
            "§9, §6",
            text.format(first_order),
            first_order <= FACTOR,
        ),
        Claim(
            "closures and defunctionalised programs have the same gradients, by casts "
            "that never fail",
            "App. B",
            f"{count} random programs, at most {apart:.1e} apart",
            apart <= 1e-12,
        ),
    ]


def _ratios(program: Program, random: Random) -> tuple[float, float, float, float]:
    """What conversion costs, and the gradients after it; how far these are apart."""
    value, cost = run_term(program.term, program.scope, program.values)
    ty = type_of(program.term)
    d = cotangent(random, ty, value)
    rest = FIXED + PER_VARIABLE * len(program.scope) + Sparse().size(d, ty)
    closures = convert(program.term)
    first_order = defunctionalise(program.scope, program.term)
    closures_cost = _value(program, closures)
    levels = math.ceil(math.log2(most_captured(program.term)))
    found = _gradient(program, closures, ClosedMonadic(), d)
    other = _gradient(program, first_order, Monadic(), d)
    return (
        closures_cost / cost - levels,
        (found.cost - rest) / closures_cost,
        (other.cost - rest) / _value(program, first_order),
        _difference(program, found, other),
    )


def _difference(program: Program, one: Outcome, other: Outcome) -> float:
    """How far two gradients are apart, relative to their numbers."""
    largest = 0.0
    both = zip(program.scope, one.cotangents, other.cotangents, strict=True)
    for var, a, b in both:
        pairs = zip(*[Sparse().numbers(d, var.type) for d in (a, b)], strict=True)
        largest = max([largest, *[abs(x - y) / max(1.0, abs(x)) for x, y in pairs]])
    return largest
