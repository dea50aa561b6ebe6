"""Core programs as terms, by every reference form and by the compiler."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from chadllvm.chad.gradient import value_and_gradient
from chadllvm.ir.interp import Interpreter
from chadllvm.ir.term import Program, Var
from chadllvm.ir.types import Type, has_float
from chadllvm.ir.value import ArrayValue, to_value
from chadllvm.paper.accumulation import RuntimeMonad
from chadllvm.paper.array_linear import dense_arrays, sparse_arrays
from chadllvm.paper.check import check
from chadllvm.paper.cost import Outcome, run_basic, run_monadic, run_term
from chadllvm.paper.elements import from_binary
from chadllvm.paper.linear import Linear, free
from chadllvm.paper.monad import ArrayMonad, Monad, Monadic, TreeMonad
from chadllvm.paper.naive import Basic, Tuples
from chadllvm.paper.rules import Rules
from chadllvm.paper.source import read, to_binary
from chadllvm.paper.sparse import Trees
from chadllvm.paper.spread import spread
from chadllvm.paper.terms import Term
from chadllvm.paper.types import Scope
from chadllvm.simplify.flatten import flatten
from chadllvm.simplify.flatten import leaves as types_of_leaves
from chadllvm.simplify.inline import inline
from tests.leaves import all_leaves


@dataclass(frozen=True)
class Example:
    """A program as a term, the values of its variables, and their types in the core."""

    scope: tuple[Var, ...]
    term: Term
    values: list[Any]
    types: list[Type]

    @staticmethod
    def of(program: Program, args: Sequence[Any]) -> Example:
        entry = inline(program).entry
        scope, term = read(entry)
        types = [p.type for p in entry.params]
        pairs = zip(args, types, strict=True)
        values = [to_binary(to_value(a, t), t) for a, t in pairs]
        return Example(scope, term, values, types)

    def numbers(self, linear: Linear, cotangents: Sequence[Any]) -> list[float]:
        """The numbers in the cotangents of the scope, in the order of the leaves."""
        triples = zip(cotangents, self.values, self.scope, strict=True)
        laid_out = [spread(linear, d, value, v.type) for d, value, v in triples]
        pairs = zip(laid_out, self.types, strict=True)
        found = all_leaves([from_binary(x, ty) for x, ty in pairs], self.types)
        return [n for leaf, ty in zip(found, leaf_types(self.types), strict=True)
                if has_float(ty) for n in plain(leaf)]  # fmt: skip


def leaf_types(types: Sequence[Type]) -> list[Type]:
    return [leaf for ty in types for leaf in types_of_leaves(ty)]


def plain(leaf: Any) -> list[float]:
    """The numbers of a leaf: a number, an array, or an array of references to some."""
    if isinstance(leaf, ArrayValue):
        return [n for item in leaf.data for n in plain(item)]
    return [leaf]


def compiled(program: Program, args: Sequence[Any]) -> list[float]:
    """The value and the gradient's numbers by the compiler's own transformation."""
    types = [p.type for p in program.entry.params]
    pairs = zip(args, types, strict=True)
    values = all_leaves([to_value(a, t) for a, t in pairs], types)
    entry = flatten(inline(program)).entry
    wrt = [k for k, p in enumerate(entry.params) if has_float(p.type)]
    gradient = Program((value_and_gradient(entry, wrt),))
    results = Interpreter(gradient).run(*values)
    extra = len(entry.body.results) - 1
    return [results[0], *(n for leaf in results[1 + extra :] for n in plain(leaf))]


# The forms: how contributions are put together, over a monad or environments.

Form = Callable[..., Outcome]


def basic(environments: Any) -> Form:
    def run(
        example: Example, d: Any, rules: Rules | None = None, before: Any = None
    ) -> Outcome:
        return run_basic(
            environments, example.term, example.scope, example.values, d, rules
        )

    return run


def monadic(monad: Monad) -> Form:
    def run(
        example: Example, d: Any, rules: Rules | None = None, before: Any = None
    ) -> Outcome:
        if before is None:
            before = [monad.linear.zero(v.type, free) for v in example.scope]
        return run_monadic(
            monad, example.term, example.scope, example.values, d, before, rules
        )

    return run


def forms() -> Iterator[tuple[str, Linear, Form]]:
    """Every form with its linear types."""
    dense, sparse = dense_arrays(), sparse_arrays()
    yield "naive", dense, basic(Tuples(dense))
    yield "sparse", sparse, basic(Trees(sparse))
    yield "tree", sparse, monadic(TreeMonad(sparse))
    yield "array", sparse, monadic(ArrayMonad(sparse))
    yield "runtime", sparse, monadic(RuntimeMonad(sparse))


def value_of(example: Example) -> tuple[Any, int]:
    """The value of the term, and its cost."""
    return run_term(example.term, example.scope, example.values)


# Programs that take more steps are run by two of the forms only, for their time.
LARGE = 3000


def agree(program: Program, args: tuple[Any, ...]) -> None:
    """Every form gives the compiler's value and cotangents; D[t] is well typed."""
    value, *expected = compiled(program, args)
    example = Example.of(program, args)
    found_value, cost = value_of(example)
    assert found_value == pytest.approx(value, rel=1e-12)
    for name, linear, run in forms():
        if cost > LARGE and name not in ("sparse", "array"):
            continue
        outcome = run(example, 1.0)
        assert outcome.value == pytest.approx(value, rel=1e-12)
        found = example.numbers(linear, outcome.cotangents)
        scale = max([1e-12, *(abs(x) for x in expected if math.isfinite(x))])
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9 * scale), name


def derivatives_are_well_typed(example: Example) -> None:
    scope = Scope.of(example.scope)
    ty = check(example.term, scope)
    for rules in (Basic(), Monadic()):
        derived = rules.differentiate(scope, example.term)
        assert check(derived, scope) == rules.derived_type(scope, ty)
