"""Arrays with one element replaced, which the core has and the paper has not.

    D[s with [i] = t] = ⟨s₁ with [i] = t₁, λd. let ⟨rest, dt⟩ = take i d in
                                           s₂ rest >> t₂ dt⟩

What was contributed to the element goes to what it was replaced by, and the rest to the
array. `take` finds it in one step if that was done before: see `BCells` in `bag`.

An update takes one step, as if it were done in place. A chain of them is within the
theorem. Where an array is updated in two ways and both results are used, the cells of
either are added up element by element, the fewer to the more: as with a union of
environments (App. A) that may be a logarithm too much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chadllvm.ir.types import I64, Array, Type
from chadllvm.paper.array_linear import array_cotangents
from chadllvm.paper.array_types import is_array
from chadllvm.paper.elements import Elements, element
from chadllvm.paper.rules import backpropagator, let_
from chadllvm.paper.terms import Call, Do, Operation, Term, fst, pair, snd
from chadllvm.paper.types import Scope, cotangent, product

if TYPE_CHECKING:
    from chadllvm.paper.machine import Machine
    from chadllvm.paper.rules import Rules


@dataclass(frozen=True)
class Update(Operation):
    """s with [i] = t; earlier stages guarantee that i is in range."""

    def run(self, machine: Machine, *args: Any) -> Any:
        whole, index, value = args
        items = list(whole.items)
        items[index] = value
        return Elements(items, whole.inner)

    def type_of(self, args: Sequence[Type]) -> Type:
        self.counts(args, 3)
        self.takes(args, args[0], I64, is_array(self.rule, args[0]))
        return args[0]

    def derive(self, rules: Rules, scope: Scope, term: Do) -> Term:
        """See above."""
        whole, index, value = term.args

        def with_value(p: Term, i: Term) -> Term:
            return rules.with_derived(
                scope, value, lambda q: _derived(rules, scope, term, p, i, q)
            )

        return rules.with_derived(
            scope,
            whole,
            lambda p: rules.with_derived(
                scope, index, lambda n: let_(I64, fst(n), lambda i: with_value(p, i))
            ),
        )


def _derived(
    rules: Rules, scope: Scope, term: Do, whole: Term, index: Term, value: Term
) -> Term:
    """D of an update, given D of the array and of the element, and the index."""
    ty = rules.type_of(term)
    assert isinstance(ty, Array)
    parts = product(cotangent(ty), cotangent(element(ty)))

    def contributions(t: Term) -> Term:
        return rules.both(scope, Call(snd(whole), fst(t)), Call(snd(value), snd(t)))

    def backward(d: Term) -> Term:
        return let_(parts, Do(Take(ty), (index, d)), contributions)

    primal = Do(Update(), (fst(whole), index, fst(value)))
    return pair(primal, backpropagator(ty, backward))


@dataclass(frozen=True)
class Take(Operation):
    """take : ℤ → D[Array τ]₂ → D[Array τ]₂ × D[τ]₂"""

    type: Array

    def run(self, machine: Machine, *args: Any) -> Any:
        index, d = args
        linear = machine.linear
        cotangents = array_cotangents(linear, self.type)
        return cotangents.taken(linear, d, index, self.type, machine.pay)

    def type_of(self, args: Sequence[Type]) -> Type:
        self.takes(args, I64, cotangent(self.type))
        return product(cotangent(self.type), cotangent(element(self.type)))
