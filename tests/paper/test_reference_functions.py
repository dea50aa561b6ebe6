"""Higher-order programs by every route: naive CHAD, closures, defunctionalisation.

All give the same values and cotangents, which are those of central differences, and
derivatives keep the typing rules. What each costs is what §9 and App. B say.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from random import Random
from typing import Any

import pytest

from chadllvm.ir.term import Var
from chadllvm.ir.types import F64, Fun, Product, Sum, Type
from chadllvm.ir.value import Injected
from chadllvm.paper.check import check
from chadllvm.paper.closed import ClosedBasic, ClosedMonadic
from chadllvm.paper.closure import convert
from chadllvm.paper.cost import (
    FACTOR,
    FIXED,
    PER_VARIABLE,
    run_gradient,
    run_monadic,
    run_term,
)
from chadllvm.paper.defunctionalise import defunctionalise
from chadllvm.paper.free import free_variables
from chadllvm.paper.function_types import bound, exists
from chadllvm.paper.higher_order import Bags, HigherOrder, Lists, Log
from chadllvm.paper.linear import free
from chadllvm.paper.machine import Machine
from chadllvm.paper.monad import ArrayMonad, Monad, Monadic, TreeMonad
from chadllvm.paper.naive import Basic, Dense, Tuples
from chadllvm.paper.packed import CLOSED
from chadllvm.paper.packed_affine import CountedPacks, CountingFunctions
from chadllvm.paper.rules import Rules
from chadllvm.paper.sparse import Sparse, Trees
from chadllvm.paper.terms import Call, Lam, Let, Ref, Term, type_of
from chadllvm.paper.types import Scope, product
from tests.function_term_strategies import (
    Program,
    chain,
    cotangent,
    function,
    most_captured,
    named,
    nested,
    parts,
    programs,
    subterms,
    wide,
)
from tests.sweep import part

# The largest ratios: of T[t] to t but for what captures add (nested applications come
# as near as they are long), of a gradient to the program it is the gradient of (the
# theorem has 34), and of the first-order program to t.
LARGEST_CONVERSION, LARGEST_GRADIENT, LARGEST_FIRST_ORDER = 6.0, 17.0, 4.7

# Naive CHAD is tried on programs that take at most so many steps.
SHORT = 100


@cache
def examples() -> list[Program]:
    return programs(part(60, 2))


def families() -> list[Program]:
    """Long programs that nest, name, chain, and capture many."""
    return [family(32) for family in (nested, named, chain, wide)]


def dot(ty: Type, d: Any, value: Any) -> float:
    """The inner product of a cotangent and a value."""
    if ty == F64:
        product: float = d * value
        return product
    held = [d.value] if isinstance(d, Injected) else d
    found = zip(parts(ty, value), held, strict=False)
    return sum(dot(t, x, v) for (t, v), x in found)


def slots(ty: Type) -> int:
    """How many numbers `Linear.numbers` gives for a type: of all constructors."""
    match ty:
        case Product(fields):
            return sum(map(slots, fields))
        case Sum():
            return sum(map(slots, ty.payloads))
        case _:
            return int(ty == F64)


def shifted(ty: Type, value: Any, place: int, h: float) -> Any:
    """The value with one of its numbers changed, if that number is there."""
    match ty:
        case Product((first, second)):
            rest = place - slots(first)
            return shifted(first, value[0], place, h), shifted(
                second, value[1], rest, h
            )
        case Sum():
            before = sum(map(slots, ty.payloads[: value.index]))
            held = ty.payloads[value.index]
            return Injected(value.index, shifted(held, value.value, place - before, h))
        case _:
            return value + h if ty == F64 and place == 0 else value


def differences(example: Program, d: Any) -> list[float]:
    """The derivatives of the inner product with d, by central differences."""
    found: list[float] = []
    h = 1e-5
    result = type_of(example.term)
    for index, var in enumerate(example.scope):
        for place in range(slots(var.type)):
            sides = []
            for step in (h, -h):
                values = list(example.values)
                values[index] = shifted(var.type, values[index], place, step)
                value, _ = run_term(example.term, example.scope, values)
                sides.append(dot(result, d, value))
            found.append((sides[0] - sides[1]) / (2 * h))
    return found


def derivatives(example: Program) -> Iterator[tuple[Rules, Term]]:
    """D by each route; naively only if that does not take too long."""
    term, scope = example.term, example.scope
    closures, first_order = convert(term), defunctionalise(scope, term)
    found: list[tuple[Rules, Term]] = [
        (ClosedBasic(), closures),
        (ClosedMonadic(), closures),
        (Basic(), first_order),
        (Monadic(), first_order),
    ]
    if run_term(term, scope, example.values)[1] <= SHORT:
        found.append((HigherOrder(), term))
    for rules, source in found:
        yield rules, rules.differentiate(scope, source)


def outcomes(
    example: Program, rules: Rules, derived: Term, d: Any
) -> Iterator[tuple[Any, list[float]]]:
    """The value and the cotangents, with all linear types and environments."""
    logs: Log = Bags()
    for kind in (Dense, Sparse):
        linear = kind({Fun: logs, **CLOSED})
        logs = Lists()
        effects: list[Any] = [TreeMonad(linear), ArrayMonad(linear)]
        if isinstance(rules, Basic):
            effects = [Tuples(linear), Trees(linear)]
        for effect in effects:
            yield run(Machine(linear, effect), example, derived, d)


def run(
    machine: Machine, example: Program, derived: Term, d: Any
) -> tuple[Any, list[float]]:
    """The value and the cotangents of the scope."""
    linear, effects = machine.linear, machine.effects
    scope = Scope.of(example.scope)
    with machine.running():
        env = dict(zip(example.scope, example.values, strict=True))
        value, bp = machine.eval(derived, env)
        result = machine.call(bp, d)
        if isinstance(effects, Monad):
            zeros = [linear.zero(ty, free) for ty in scope.types]
            _, found = effects.run(result, zeros)
        else:
            found = effects.cotangents(scope, result)
    pairs = zip(found, scope.types, strict=True)
    return value, [number for x, ty in pairs for number in linear.numbers(x, ty)]


@pytest.mark.sweep(share=4)
@pytest.mark.parametrize("index", range(24))
def test_all_routes_agree(index: int) -> None:
    example = examples()[index]
    value, _ = run_term(example.term, example.scope, example.values)
    d = cotangent(Random(index), type_of(example.term), value)
    expected = differences(example, d)
    first: list[float] = []
    for rules, derived in derivatives(example):
        for found_value, found in outcomes(example, rules, derived, d):
            assert found_value == value
            first = first or found
            assert found == pytest.approx(first, rel=1e-10, abs=1e-12)
            assert found == pytest.approx(expected, rel=1e-5, abs=1e-6)


def test_the_examples_are_higher_order() -> None:
    """Nearly all call functions, and most of these functions capture variables."""
    calls = [len(subterms(e.term, Call)) for e in examples()]
    captures = [
        len(free_variables(f)) for e in examples() for f in subterms(e.term, Lam)
    ]
    assert sum(count > 0 for count in calls) > 0.9 * len(calls)
    assert sum(calls) > 4 * len(calls)
    assert sum(count > 0 for count in captures) > 0.5 * len(captures)


@pytest.mark.sweep
def test_all_routes_preserve_types() -> None:
    for example in examples()[: part(24, 2)]:
        scope, ty = example.scope, check(example.term, example.scope)
        assert check(convert(example.term), scope) == ty
        assert check(defunctionalise(scope, example.term), scope) == ty
        for rules, derived in derivatives(example):
            assert check(derived, scope) == rules.derived_type(Scope.of(scope), ty)


@pytest.mark.sweep
def test_cotangents_are_used_at_most_once() -> None:
    """Those of closures too, though each call of one runs a computation of its own."""
    most = 0
    for index, example in enumerate(examples()):
        value, _ = run_term(example.term, example.scope, example.values)
        counting = CountingFunctions()
        d = counting.counted(cotangent(Random(index), type_of(example.term), value))
        zeros = [counting.zero(var.type, free) for var in example.scope]
        run_monadic(
            ArrayMonad(counting),
            convert(example.term),
            example.scope,
            example.values,
            d,
            zeros,
            ClosedMonadic(),
        )
        most = max(most, counting.most)
    assert most == 1


def test_a_closure_that_is_used_twice_is_counted_twice() -> None:
    counting = CountingFunctions()
    ty = exists(product(bound(), F64))
    packs = counting.other(ty)
    assert isinstance(packs, CountedPacks)
    twice = packs.pack(F64, counting.counted((1.0, 1.0)))
    counting.plus(twice, twice, ty, free)
    assert counting.most == 2


@pytest.mark.sweep
def test_programs_may_be_long() -> None:
    """Thousands of lets and calls one after the other, and hundreds in each other."""
    x, f, y = Var("x", F64), Var("f", function(F64, F64)), Var("y", F64)
    names = [x, *[Var("y", F64) for _ in range(5000)]]
    term: Term = Ref(names[-1])
    for old, new in reversed(list(pairwise(names))):
        term = Let(new, Call(Ref(f), Ref(old)), term)
    term = Let(f, Lam(y, Ref(y)), term)
    for long in (Program((x,), term, (3.0,)), nested(700)):
        for route in (convert(long.term), defunctionalise(long.scope, long.term)):
            assert run_term(route, long.scope, long.values)[0] == long.values[0]


# Costs.


def test_closure_conversion_costs_a_constant_factor() -> None:
    """cost(T[t]) ≤ (6 + ⌈log₂ n⌉) · cost(t) if no function captures more than n."""
    for example in [*examples(), *families()]:
        _, cost = run_term(example.term, example.scope, example.values)
        closures = convert(example.term)
        _, found = run_term(closures, example.scope, example.values)
        levels = math.ceil(math.log2(most_captured(example.term)))
        assert found <= (LARGEST_CONVERSION + levels) * cost


@pytest.mark.sweep
def test_the_theorem_with_functions() -> None:
    """The bound of §6 holds for what closures and first-order programs cost."""
    linear = Sparse(CLOSED)
    for index, example in enumerate([*examples(), *families()]):
        scope, values = example.scope, example.values
        ty = type_of(example.term)
        value, source = run_term(example.term, scope, values)
        d = cotangent(Random(index), ty, value)
        first_order = defunctionalise(scope, example.term)
        for term, form in (
            (convert(example.term), ClosedMonadic),
            (first_order, Monadic),
        ):
            _, cost = run_term(term, scope, values)
            gradient = run_gradient(ArrayMonad(linear), term, scope, values, d, form())
            rest = FIXED + PER_VARIABLE * len(scope) + linear.size(d, ty)
            assert gradient.cost <= FACTOR * cost + rest
            assert gradient.cost - rest <= LARGEST_GRADIENT * cost
        assert run_term(first_order, scope, values)[1] <= LARGEST_FIRST_ORDER * source
